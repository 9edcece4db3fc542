import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand } from './parley-process.ts';
import { createWebClient } from './web-client.ts';

describe('parley conversations with a running gateway', () => {
  let model: ModelDouble;
  let folder: DataFolder;
  let parley: TestParley;
  beforeAll(async () => {
    model = await startModelDouble();
    model.reply(() => 'Ships sail.');
    const { baseUrl } = model;
    const used = { provider: 'openai-compatible', baseUrl, model: 'double' };
    folder = makeDataFolder({ model: used, lanes: { collectPauseMs: 50 }, http: { port: 0 } });
    parley = await startParleyInProcess(folder.path);
  });
  afterAll(async () => {
    await parley.discard();
    await model.close();
    folder.remove();
  });

  const run = (...args: readonly string[]) =>
    runCommand(['--data', folder.path, 'conversations', ...args]);
  const ID = 'web:default:main';

  it('[U11] shows, renames and deletes a conversation, as the page does', async () => {
    const client = createWebClient(parley);
    await client.post('Tell me of ships');
    const answered = expect.stringContaining('Ships sail.');
    await expect.poll(() => client.history()).toContainEqual(answered);
    expect((await run('rename', ID, 'Harbor')).out).toBe('The conversation is now named Harbor.\n');
    expect((await run('list')).out).toMatch(/web:default:main +Harbor +idle/);
    const shown = await run('show', ID);
    expect(shown).toMatchObject({ code: 0, err: '' });
    const lines = shown.out.trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^conversation +web:default:main$/),
      expect.stringMatching(/^with +Harbor$/),
      expect.stringMatching(/^state +idle$/),
      expect.stringMatching(/^agent +\S.*, mode agent$/),
      expect.stringMatching(/^model +openai-compatible\/double/),
      expect.stringMatching(/^last +\d{4}-\d\d-\d\d /),
      expect.stringMatching(/^30 days +1 turn, \d+ tokens, /),
    ]);
    const json = JSON.parse((await run('show', ID, '--json')).out);
    expect(json).toMatchObject({ id: ID, name: 'Harbor', mode: 'agent', spent: { turns: 1 } });
    expect((await run('delete', ID, '--yes')).out).toMatch(/^Deleted 1 message with everything/);
    expect(await run('show', ID)).toMatchObject({
      code: 1,
      out: 'There is no such conversation; it may have been deleted.\n',
    });
    const wrong = await run('show', 'x'.repeat(701));
    expect(wrong).toMatchObject({ code: 2, out: '' });
    expect(wrong.err).toMatch(/See "parley conversations show --help"\.\n$/);
  });
});
