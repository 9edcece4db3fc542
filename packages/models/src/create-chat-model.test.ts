import { describe, expect, it } from 'vitest';
import { createAutoModel } from './create-chat-model.ts';
import type { LocalServer } from './offline-model.ts';
import { collectModelText, createBrokenModel, createFakeModel } from './testing/fake-model.ts';

const SERVER: LocalServer = { baseUrl: 'http://127.0.0.1:11434/v1', model: 'llama' };

/**
 * Creates an automatic model in a controlled environment, in which `state.server` is the result of
 * a search.
 */
function setUp(server: LocalServer | null, local = createFakeModel('local/llama', 'from llama')) {
  const state = { server, now: 0, searches: 0, local };
  const auto = createAutoModel({
    monotonic: () => state.now,
    offline: createFakeModel('parley/offline', 'offline'),
    local: () => state.local,
    detect: async () => {
      state.searches += 1;
      return state.server;
    },
  });
  return { state, auto };
}

describe('the automatic model', () => {
  it('[G01] is the local server if one is found', async () => {
    const { auto } = setUp(SERVER);
    expect(await collectModelText(auto.model)).toBe('from llama');
    expect(auto.model.id).toBe('local/llama');
    expect(await auto.first).toEqual(SERVER);
  });

  it('[G01] is the offline model if no server is found, and then searches again at most every 30 s', async () => {
    const { state, auto } = setUp(null);
    expect(await collectModelText(auto.model)).toBe('offline');
    state.now = 29_999;
    expect(await collectModelText(auto.model)).toBe('offline');
    expect(state.searches).toBe(1);
  });

  it('[G01] finds a server that was started later when a message arrives', async () => {
    const { state, auto } = setUp(null);
    await collectModelText(auto.model);
    state.server = SERVER;
    state.now = 30_000;
    expect(await collectModelText(auto.model)).toBe('from llama');
  });

  it('[G01] searches once for many concurrent messages', async () => {
    const { state, auto } = setUp(null);
    await collectModelText(auto.model);
    state.now = 30_000;
    await Promise.all([
      collectModelText(auto.model),
      collectModelText(auto.model),
      collectModelText(auto.model),
    ]);
    expect(state.searches).toBe(2);
  });

  it('[G01] goes offline if its server has disappeared, and reports that in the same turn', async () => {
    const { state, auto } = setUp(
      SERVER,
      createBrokenModel('local/llama', { kind: 'unreachable' }),
    );
    await auto.first;
    state.server = null;
    expect(await collectModelText(auto.model)).toBe('offline');
  });

  it('[G01] reports other failures of its server unchanged', async () => {
    const { auto } = setUp(SERVER, createBrokenModel('local/llama', { kind: 'too-long' }));
    await expect(collectModelText(auto.model)).rejects.toMatchObject({ code: 'model-too-long' });
  });
});
