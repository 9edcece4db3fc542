import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { startParley } from 'parley/testing';

/** A platform on this machine: it keeps what Parley sends to people. */
async function startPlatform() {
  const sent: unknown[] = [];
  const server = createServer(async (request, response) => {
    sent.push(await json(request));
    server.emit('sent');
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}/`, sent, server };
}

test('a person writes on the platform and gets the answer there', async (t) => {
  const { url, sent, server } = await startPlatform();
  t.after(() => server.close());
  const parley = await startParley({
    plugin: import.meta.dirname,
    settings: { channels: { 'my-plugin': { url, access: { direct: 'open' } } } },
    answers: ['Hello, Ada!'],
  });
  t.after(() => parley.close());
  const answered = once(server, 'sent', { signal: AbortSignal.timeout(10_000) });
  const { status } = await fetch(`${parley.address}/channels/my-plugin/default/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${parley.token}` },
    body: JSON.stringify({ id: '1', from: 'ada', text: 'Hello!' }),
  });
  assert.equal(status, 202);
  await answered;
  assert.deepEqual(sent, [{ to: 'ada', text: 'Hello, Ada!' }]);
});
