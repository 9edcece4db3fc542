import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startParley } from 'parley/testing';

test('the model can call the tool and gets its result', async (t) => {
  const parley = await startParley({
    plugin: import.meta.dirname,
    options: { sides: 4 },
    answers: [{ tool: 'my_plugin', arguments: { dice: 2 } }, 'So be it.'],
  });
  t.after(() => parley.close());
  assert.equal(await parley.ask('Roll two dice.'), 'So be it.');
  assert.match(parley.toolResults.join(), /[1-4] \+ [1-4]/);
});

test('wrong options are refused at the start', async () => {
  const started = startParley({ plugin: import.meta.dirname, options: { sides: 1 } });
  await assert.rejects(started, /its options are wrong: sides/);
});
