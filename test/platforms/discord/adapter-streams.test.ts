import type { GrowingAnswer } from '@parley/channels';
import { memoryValues } from '@parley/contracts';
import { createPrefixRenderer, render } from '@parley/markup';
import { afterEach, describe, expect, it } from 'vitest';
import { ANN, endScenes, noSignal, part, type Scene, scene } from './adapter-scene.ts';

afterEach(endScenes);

const TARGET = { dialect: 'discord', maxLength: 2000, unit: 'utf16' } as const;
const LONG = Array.from({ length: 60 }, (_, n) => `Line ${n}: ${'word '.repeat(20)}`).join('\n\n');

/** An answer that has come so far. */
function growing(text: string): GrowingAnswer {
  const renderer = createPrefixRenderer(TARGET);
  renderer.push(text);
  return renderer;
}

const visible = ({ double }: Scene) =>
  double.conversation(double.channelId).map((message) => message.visible);
const grow = ({ adapter, double }: Scene, text: string, replyToMessageId?: string) =>
  adapter.streaming?.update({ chatId: double.channelId, replyToMessageId }, 't1', growing(text));

/** Sends the finished answer as the outbox would. */
async function finish({ adapter, double }: Scene, text: string): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, body] of render(text, TARGET).entries()) {
    const more = { turnId: 't1', index, body, idempotencyKey: `key ${index}` };
    const receipt = await adapter.send(part(double.channelId, '', more), noSignal());
    ids.push(receipt.platformMessageId);
  }
  return ids;
}

describe('[F12] an answer grows on Discord', () => {
  it('as one message that is edited, quotes the question and becomes the finished answer', async () => {
    const here = await scene();
    const question = here.double.say({ channel: here.double.channelId, from: ANN, text: 'q' });
    await grow(here, 'It', question.id);
    await grow(here, 'It is');
    await grow(here, 'It is');
    expect(visible(here)).toEqual(['q', 'It is']);
    const [id] = await finish(here, 'It is **done**.');
    expect(here.double.conversation(here.double.channelId)).toMatchObject([
      { visible: 'q' },
      { id, visible: 'It is done.', replyTo: question.id },
    ]);
    expect(here.double.sends().map(({ kind }) => kind)).toEqual(['message', 'edit', 'edit']);
  });

  it('over several messages, one edit at a time, none of them lost or shown twice', async () => {
    const here = await scene();
    const { double } = here;
    for (let length = 200; length < LONG.length; length += 700) {
      const before = double.sends().filter(({ kind }) => kind === 'edit').length;
      await grow(here, LONG.slice(0, length));
      const edits = double.sends().filter(({ kind }) => kind === 'edit').length - before;
      expect(edits).toBeLessThanOrEqual(1);
    }
    const ids = await finish(here, LONG);
    const expected = render(LONG, TARGET).map(({ text }) => text);
    const shown = double.conversation(double.channelId);
    expect(shown.map(({ content }) => content)).toEqual(expected.map((text) => text.trim()));
    expect(shown.map(({ id }) => id)).toEqual(ids);
  });

  it('and is taken up by the finished answer also after a restart', async () => {
    const values = memoryValues();
    const before = await scene({ values });
    await grow(before, 'half of');
    await before.adapter.stop();
    const after = await scene({ values, on: before.double });
    await grow(after, 'half of it');
    expect(visible(after)).toEqual(['half of it']);
    await finish(after, 'all of it');
    expect(visible(after)).toEqual(['all of it']);
  });

  it('also where it is not known whether the first message arrived', async () => {
    const values = memoryValues();
    const before = await scene({ values });
    before.double.fault({ kind: 'hang-up', after: true });
    await expect(grow(before, 'half of')).rejects.toThrow('may have arrived');
    await before.adapter.stop();
    const after = await scene({ values, on: before.double });
    await finish(after, 'all of it');
    expect(visible(after)).toEqual(['all of it']);
  });

  it('no more once the finished answer is being sent', async () => {
    const here = await scene();
    await grow(here, 'half');
    here.double.fault({ kind: 'delay', ms: 50, call: 'PATCH' });
    const finishing = finish(here, 'whole');
    await grow(here, 'half of');
    await finishing;
    expect(visible(here)).toEqual(['whole']);
  });

  it('and is sent anew where somebody has deleted what was shown', async () => {
    const here = await scene();
    await grow(here, 'half');
    const [shown] = here.double.conversation(here.double.channelId);
    here.double.erase(here.double.channelId, shown?.id ?? '');
    await finish(here, 'whole');
    expect(visible(here)).toEqual(['whole']);
  });

  it('[D04] and the finished part sent twice changes nothing', async () => {
    const here = await scene();
    await grow(here, 'half');
    const once = await finish(here, 'whole');
    expect(await finish(here, 'whole')).toEqual(once);
    expect(visible(here)).toEqual(['whole']);
  });
});
