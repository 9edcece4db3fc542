import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { noSignal, part } from './adapter-scene.ts';

/** Everything a value holds, in words, keys in base64. */
function wordsOf(value: unknown): string {
  return JSON.stringify(value, (_, held: unknown) =>
    held instanceof Uint8Array ? Buffer.from(held).toString('base64') : held,
  );
}

describe('the WhatsApp adapter tells nobody', () => {
  it('private keys or phone numbers, on the console or in the log', async () => {
    const printed: unknown[][] = [];
    const methods = ['debug', 'info', 'log', 'warn', 'error'] as const;
    const before = methods.map((method) => [method, console[method]] as const);
    for (const method of methods) console[method] = (...values) => void printed.push(values);
    // After the adapter and the double, which registers later and so ends earlier.
    onTestFinished(() => {
      for (const [method, print] of before) console[method] = print;
    });
    vi.resetModules();
    const { openScene: open } = await import('./adapter-scene.ts');
    const { double, adapter, received, logged, states, connected } = await open();
    const ann = double.addPerson({ name: 'Ann' });
    await double.say({ chat: ann.id, text: 'hello' });
    await double.waitFor(() => received.length === 1);
    await adapter.send(part(ann.id, 'hi'), noSignal());
    await double.say({ chat: ann.id, text: 'more' });
    double.fault({ kind: 'garble' });
    await double.say({ chat: ann.id, text: 'garbled' });
    double.loseSessions(ann.id);
    await adapter.send(part(ann.id, 'again'), noSignal());
    double.fault({ kind: 'refuse', code: 463 });
    const refusal = await adapter.send(part(ann.id, 'no'), noSignal()).catch(String);
    double.drop();
    await connected(2);
    const told = [wordsOf(printed), ...logged, wordsOf(states), String(refusal)].join('\n');
    expect(logged.length).toBeGreaterThan(5);
    expect(told).not.toMatch(/privKey|chainKey|rootKey|currentRatchet|SessionEntry/);
    for (const jid of [ann.pn, ann.lid, double.me.pn, double.me.lid])
      expect(told).not.toContain(jid?.split('@')[0]);
  });
});
