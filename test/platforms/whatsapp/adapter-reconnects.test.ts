import { describe, expect, it } from 'vitest';
import { createScene, openScene } from './adapter-scene.ts';

describe('the WhatsApp adapter', () => {
  it.each([408, 428, 500, 503, 515])('reconnects after %s', async (code) => {
    const { double, connected, texts } = await openScene();
    double.kick(code);
    await connected(2);
    await double.say({ chat: double.addPerson().id, text: 'still there?' });
    await double.waitFor(() => texts().length === 1);
  });

  it('reconnects after a broken connection', async () => {
    const { double, connected, states } = await openScene();
    double.drop();
    await connected(2);
    expect(states.map(({ kind }) => kind)).toEqual([
      'starting',
      'connected',
      'retrying',
      'connected',
    ]);
  });

  it('waits longer each time while WhatsApp is unavailable', async () => {
    const { double, adapter, connected, waits } = await createScene();
    double.fault({ kind: 'failure', reason: 503, times: 4 });
    await adapter.start();
    await connected();
    expect(waits).toEqual([500, 1_000, 2_000, 4_000]);
  });

  it('treats repeated 500s as a broken link, and gives advice', async () => {
    const { double, adapter, states, waits } = await createScene();
    double.fault({ kind: 'failure', reason: 500, times: 9 });
    await adapter.start();
    const failed = await double.waitFor(() => states.find((state) => state.kind === 'failed'));
    expect(failed.fix).toContain('Linked devices');
    expect(waits).toHaveLength(4);
  });

  it.each([
    [440, 'another program'],
    [403, 'blocked'],
    [405, 'version'],
    [411, 'linked devices'],
  ])('stops after %s, reports the reason, and keeps its credentials', async (code, words) => {
    const { double, adapter, states, values, waits } = await openScene();
    double.kick(code);
    const failed = await double.waitFor(() => states.find((state) => state.kind === 'failed'));
    expect(failed.reason).toContain(words);
    expect((await values.get('credentials', ['credentials'])).size).toBe(1);
    expect(waits).toEqual([]);
    await adapter.stop();
  });

  it('stops after 401 and deletes everything, so that it can be linked again', async () => {
    const { double, states, values, again, adapter } = await openScene();
    double.kick(401);
    await double.waitFor(() => states.find((state) => state.kind === 'failed'));
    expect((await values.get('credentials', ['credentials'])).size).toBe(0);
    expect((await values.get('pre-key', ['1', '2', '3'])).size).toBe(0);
    await adapter.stop();
    await again();
    await double.waitFor(() => states.find((state) => state.kind === 'pairing'));
  });

  it('[U03] shows new codes when the codes of one connection have expired', async () => {
    const { double, adapter, states, connected } = await createScene({ unlinked: true });
    const codes = () => states.flatMap((state) => (state.kind === 'pairing' ? [state.code] : []));
    await adapter.start();
    await double.waitFor(() => codes().length === 1);
    double.kick(408);
    await double.waitFor(() => codes().length === 2);
    const [old = '', fresh = ''] = codes();
    expect(() => double.scan(old)).toThrow('no longer valid');
    double.scan(fresh);
    await connected();
  });

  it('stops before it has started', async () => {
    const { double, adapter, states } = await createScene();
    double.fault({ kind: 'no-greeting' });
    await adapter.start();
    await adapter.stop();
    expect(double.state()).toBe('away');
    expect(states).toEqual([{ kind: 'starting' }, { kind: 'stopped' }]);
  });

  it('stops while no server responds', async () => {
    const { adapter, double, connected, states } = await createScene();
    await adapter.start();
    await connected();
    double.silence(true);
    await adapter.stop();
    expect(states.at(-1)).toEqual({ kind: 'stopped' });
  });
});
