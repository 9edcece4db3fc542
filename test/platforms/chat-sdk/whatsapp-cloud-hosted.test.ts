import type { ChatStateBeforePart } from '@parley/channels';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readFailure } from '../adapter-core.ts';
import { endHosted } from './hosted-scene.ts';
import { startCloudScene } from './whatsapp-cloud-scene.ts';

afterEach(endHosted);

const soon = () => AbortSignal.timeout(5_000);
const nothing: ChatStateBeforePart = { known: [], uncertainAt: null };

describe('the WhatsApp Cloud adapter', () => {
  it('[F15] [F01] receives text, files and replies from people with and without a number', async () => {
    const { double, received, ann } = await startCloudScene();
    expect(received[0]).toMatchObject({
      ...{ text: 'hello', addressed: true, authored: { text: true } },
      ...{ chat: { type: 'direct' }, sender: { name: 'Ann' } },
    });
    const shy = double.addPerson('Shy');
    const first = await double.say({ person: shy, text: 'no number' });
    const bytes = Buffer.from('inside');
    await double.say({ person: ann, text: '', file: { name: 'a.txt', type: 'text/plain', bytes } });
    await double.say({ person: shy, text: 'to that', replyTo: first.id });
    await vi.waitFor(() => expect(received).toHaveLength(4));
    expect(received[1]?.sender.id).toBe(shy.userId);
    expect(received[2]).toMatchObject({ text: '', attachments: [{ kind: 'document' }] });
    expect(received[3]).toMatchObject({ replyTo: { messageId: first.id } });
    expect(received[3]?.chat.id).toBe(received[1]?.chat.id);
  });

  it('[F10] receives files with their captions, and fetches them within the limit, even from another process', async () => {
    const { double, received, ann, again } = await startCloudScene();
    const bytes = Buffer.from('inside');
    const file = { name: 'a.txt', type: 'text/plain', bytes };
    await double.say({ person: ann, text: 'read this', file });
    await vi.waitFor(() => expect(received).toHaveLength(2));
    expect(received[1]?.text).toBe('read this');
    const ref = received[1]?.attachments?.[0]?.ref ?? '';
    const later = await again();
    expect(Buffer.from((await later.files?.fetch(ref, 100, soon())) ?? [])).toEqual(bytes);
    await expect(later.files?.fetch(ref, 3, soon())).rejects.toThrow('larger than 3 bytes');
  });

  it('[D04] finds a message with a lost receipt by its statuses, even from another process', async () => {
    const { adapter, double, part, again, url } = await startCloudScene();
    const lost = part('once only');
    double.deliveries.sendTo('http://127.0.0.1:9/');
    double.fault({ kind: 'reset', after: true, route: 'POST' });
    expect(await readFailure(adapter.send(lost, soon()))).toEqual({ kind: 'unknown-outcome' });
    const later = await again();
    const finding = later.findSent?.(lost, nothing, soon());
    await later.start();
    double.deliveries.sendTo(url);
    const sent = double.messages.find(({ text }) => text === 'once only');
    expect(await finding).toBe(sent?.id);
    expect(await later.findSent?.(part('never sent'), nothing, AbortSignal.timeout(50))).toBe(
      undefined,
    );
  });

  it('[D05] notifies the owner that a message failed after WhatsApp had accepted it', async () => {
    const { adapter, double, ann, part, notes, logged } = await startCloudScene();
    double.refusesLate = true;
    ann.lastWroteAt = 0;
    await adapter.send(part('too late'), soon());
    await vi.waitFor(() => expect(notes).toHaveLength(1));
    expect(notes[0]).toContain('131047');
    expect(logged.join()).toContain('could not deliver');
  });

  it('[G05] sends at most three buttons, and otherwise text without buttons', async () => {
    const { adapter, double, part, received, ann } = await startCloudScene();
    const button = (n: number) => ({ label: `Choice ${n}`, data: `choice-${n}` });
    const id = (await adapter.send(part('Which?', { buttons: [1, 2, 3].map(button) }), soon()))
      .platformMessageId;
    await double.press(ann, id, 'Choice 2');
    await vi.waitFor(() => expect(received).toHaveLength(2));
    expect(received[1]).toMatchObject({ text: 'choice-2', pressed: id });
    await adapter.send(part('Which one?', { buttons: [1, 2, 3, 4].map(button) }), soon());
    expect(double.messages.at(-1)).toMatchObject({ text: 'Which one?', buttons: [] });
  });

  it('[F12] shows a typing indicator below the last message', async () => {
    const { adapter, double, received } = await startCloudScene();
    await adapter.typing?.show({ chatId: received[0]?.chat.id ?? '' });
    expect(double.typing).toEqual([received[0]?.messageId]);
  });
});
