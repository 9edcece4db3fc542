import { randomBytes } from 'node:crypto';
import type { WhatsAppDouble } from '@parley/simulators/whatsapp';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { noSignal } from '../adapter-core.ts';
import { createPart } from './adapter-scene.ts';
import { trustMedia } from './trust-media.ts';

/** All values in an object as JSON, with keys in base64. */
function printedValue(value: unknown): string {
  return JSON.stringify(value, (_, held: unknown) =>
    held instanceof Uint8Array ? Buffer.from(held).toString('base64') : held,
  );
}

/** Captures console output instead of printing it, until the test ends. */
function capturePrinted(): unknown[][] {
  const printed: unknown[][] = [];
  const methods = ['debug', 'info', 'log', 'warn', 'error'] as const;
  const before = methods.map((method) => [method, console[method]] as const);
  for (const method of methods) console[method] = (...values) => void printed.push(values);
  // Registered before the adapter and the double, so it runs after both are closed.
  onTestFinished(() => {
    for (const [method, print] of before) console[method] = print;
  });
  return printed;
}

/** Expects that no secrets were printed: neither keys by their names nor identities. */
function expectNoSecrets(told: string, names: readonly (string | undefined)[]): void {
  expect(told).not.toMatch(/privKey|chainKey|rootKey|currentRatchet|SessionEntry/);
  for (const name of names) {
    const digits = name?.split('@')[0] ?? '';
    expect(digits.length).toBeGreaterThan(6);
    expect(told).not.toContain(digits);
  }
}

describe('the log and the console of the WhatsApp adapter', () => {
  it('never contain private keys or phone numbers', async () => {
    const printed = capturePrinted();
    vi.resetModules();
    const { openScene: open } = await import('./adapter-scene.ts');
    const { double, adapter, received, logged, states, connected } = await open();
    const ann = double.addPerson({ name: 'Ann' });
    await double.say({ chat: ann.id, text: 'hello' });
    await double.waitFor(() => received.length === 1);
    await adapter.send(createPart(ann.id, 'hi'), noSignal());
    await double.say({ chat: ann.id, text: 'more' });
    double.fault({ kind: 'garble' });
    await double.say({ chat: ann.id, text: 'garbled' });
    double.loseSessions(ann.id);
    await adapter.send(createPart(ann.id, 'again'), noSignal());
    double.fault({ kind: 'refuse', code: 463 });
    const refusal = await adapter.send(createPart(ann.id, 'no'), noSignal()).catch(String);
    double.drop();
    await connected(2);
    const told = [printedValue(printed), ...logged, printedValue(states), String(refusal)].join(
      '\n',
    );
    expect(logged.length).toBeGreaterThan(5);
    expectNoSecrets(told, [ann.pn, ann.lid, double.me.pn, double.me.lid]);
  });

  it('never contain the location of files, their keys, or changes in chats', async () => {
    const printed = capturePrinted();
    vi.resetModules();
    const { openScene: open } = await import('./adapter-scene.ts');
    const { double, adapter, received, revised, logged } = await open();
    trustMedia(double);
    const ann = double.addPerson({ name: 'Ann' });
    const group = double.addGroup({ subject: 'G', members: [ann.id, double.me.id] });
    const file = await sendPicture(double, group.jid, ann.id);
    await double.waitFor(() => received.length === 1);
    const ref = received[0]?.attachments?.[0]?.ref ?? '';
    double.media.forget(file.path, { onPhone: true });
    const lost = await adapter.files?.fetch(ref, 1_000_000, noSignal()).catch(String);
    await double.acts.takeBack({ chat: group.jid, from: ann.id, id: file.id });
    await double.waitFor(() => revised.length === 1);
    const reacting = adapter.messages?.react?.({ chatId: group.jid }, 'NOWHERE', '👍');
    const told = [
      printedValue(printed),
      ...logged,
      String(lost),
      String(await reacting?.catch(String)),
    ];
    expectNoSecrets(told.join('\n'), [ann.pn, ann.lid, double.me.pn, double.me.lid, group.jid]);
    for (const secret of [file.path, file.key]) expect(told.join('\n')).not.toContain(secret);
  });

  it("never contain the account's pairing code", async () => {
    const printed = capturePrinted();
    vi.resetModules();
    const { createScene } = await import('./adapter-scene.ts');
    const { double, adapter, states, logged, connected } = await createScene({ unlinked: true });
    await adapter.start();
    const shown = await double.waitFor(() => states.find((state) => state.kind === 'pairing'));
    double.scan(shown.code);
    await connected();
    const told = [printedValue(printed), ...logged].join('\n');
    const secrets = shown.code.split(/[#,]/).filter((piece) => piece.length > 20);
    expect(secrets.length).toBeGreaterThanOrEqual(4);
    for (const secret of secrets.slice(1)) expect(told).not.toContain(secret);
    expectNoSecrets(told, [double.me.pn, double.me.lid]);
  });
});

/** Returns the location of a picture, and its key in base64. */
async function sendPicture(double: WhatsAppDouble, chat: string, from: string) {
  const draft = { kind: 'image', content: randomBytes(500), mimetype: 'image/png' } as const;
  const id = await double.acts.sendFile({ chat, from, ...draft });
  const { directPath = '', mediaKey } = double.conversation(chat).at(-1)?.attachment ?? {};
  return { id, path: directPath, key: Buffer.from(mediaKey ?? []).toString('base64') };
}
