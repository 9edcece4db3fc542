import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { OWNER_CHAT, PLACE } from '../testing/write-message.ts';
import { closeCodeFence } from './long-answer.ts';

const MESSAGES = 4;
const PARAGRAPH = `${'word '.repeat(30)}\n\n`;
/** An answer that fills fifty messages in the test chat. */
const LONG = PARAGRAPH.repeat(50).trim();

describe('[D07] an answer that is too long for the chat', () => {
  let scene: TurnScene;
  beforeEach(async () => {
    scene = await openTurnScene({}, { limits: { messages: MESSAGES } });
  });
  afterEach(() => scene.close());

  async function answerTo(writing: Parameters<TurnScene['write']>[1], say: string) {
    await scene.write('Tell me everything', writing);
    scene.model.next({ say });
    await scene.answerNext();
    const rows = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 1_000);
    return rows.map(({ part }) => part);
  }

  it('sends the beginning of a long answer, and the whole answer as a file, if the platform accepts files', async () => {
    const parts = await answerTo({ maxFileBytes: 1_000_000 }, LONG);
    expect(parts).toHaveLength(2);
    const [beginning, file] = parts;
    expect(LONG.startsWith(beginning?.body.plain.trim() ?? '-')).toBe(true);
    expect(file?.body.plain).toBe(
      `[Cut here: the whole answer, ${LONG.length.toLocaleString('en-US')} characters, is in this file.]`,
    );
    expect(file?.file).toMatchObject({ name: 'answer.md', kind: 'document', size: LONG.length });
    const stored = await scene.store.agentFiles.ofPart(file?.id ?? '');
    expect(new TextDecoder().decode(stored ?? new Uint8Array())).toBe(LONG);
  });

  it.each([
    ['where the chat takes no files', {}],
    ['where the file would be too large', { maxFileBytes: 1_000 }],
  ])('cuts a long answer and states its full length: %s', async (_where, writing) => {
    const parts = await answerTo(writing, LONG);
    expect(parts.length).toBeLessThanOrEqual(MESSAGES);
    expect(parts.at(-1)?.body.plain).toMatch(
      new RegExp(`first [\\d,]+ of ${LONG.length.toLocaleString('en-US')} characters`),
    );
    expect(parts.some(({ file }) => file !== undefined)).toBe(false);
  });

  it.each([1, 2, 3, MESSAGES])('sends an answer of %i messages unchanged', async (messages) => {
    const parts = await answerTo({ maxFileBytes: 1_000_000 }, PARAGRAPH.repeat(messages).trim());
    expect(parts).toHaveLength(messages);
    expect(parts.some(({ file }) => file !== undefined)).toBe(false);
  });

  it('closes a code block that is still open where the answer is cut', async () => {
    const parts = await answerTo(
      { maxFileBytes: 1_000_000 },
      `\`\`\`\n${'code\n'.repeat(2_000)}\`\`\``,
    );
    expect(parts).toHaveLength(2);
    expect(parts[1]?.body.plain).toMatch(/^\[Cut here/);
  });

  it('truncates an answer with a notice for people, for the model and in the live preview', async () => {
    await scene.write('Tell me everything');
    scene.model.next({ say: 'One two', cut: { what: 'characters', most: 7 } });
    await scene.answerNext();
    const note = '[Cut here: one answer has at most 7 characters. Ask me to go on.]';
    expect(await scene.owed()).toEqual([`One two\n\n${note}`]);
    const shown = scene.events.flatMap((event) => (event.type === 'turn-delta' ? event.text : []));
    expect(shown.join('')).toBe(`One two\n\n${note}`);
    await scene.write('Go on');
    await scene.answerNext();
    expect(JSON.stringify(scene.model.asked.at(-1)?.messages)).toContain(
      'one answer has at most 7',
    );
  });

  it('limits the calls in one step as well, and tells the model about the rest', async () => {
    await scene.close();
    scene = await openTurnScene({}, { limits: { calls: 2 } });
    await scene.write('Do it');
    const call = { name: 'nothing', with: {} };
    scene.model.next({ calls: [call, call, call] });
    await scene.answerNext();
    expect(JSON.stringify(scene.model.asked[1]?.messages)).toContain(
      'one step may run at most 2 calls',
    );
  });
});

describe('[D07] an open code block', () => {
  it.each([
    ['text', 'text'],
    ['```\na', '```\na\n```'],
    ['```\na\n```', '```\na\n```'],
    ['~~~~\na\n~~~', '~~~~\na\n~~~\n~~~~'],
  ])('closes %j as %j', (text, closed) => {
    expect(closeCodeFence(text)).toBe(closed);
  });
});
