import { afterEach, describe, expect, it } from 'vitest';
import { listToolMessages, openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { PLACE, runAsCommand } from '../testing/write-message.ts';
import { askUserTool } from '../tools/ask-user.ts';

const ASK = {
  calls: [{ name: 'ask_user', with: { question: 'Which one?', choices: ['Blue', 'Red'] } }],
};
const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;
const BO = { id: '7', name: 'Bo', isBot: false };
const MINUTE = 60_000;

let scene: TurnScene;
afterEach(() => scene.close());

async function asked(
  chat?: typeof GROUP,
  { count, ...route }: { count?: number; inputs?: true; maxButtons?: number } = {},
): Promise<void> {
  scene = await openTurnScene({}, { tools: [askUserTool] });
  await scene.write('paint it', { ...(chat && { chat, sender: BO }), ...route });
  const choices = Array.from({ length: count ?? 0 }, (_, n) => `Shade ${n + 1}`);
  const many = { name: 'ask_user', with: { question: 'Which one?', choices } };
  scene.model.next(count === undefined ? ASK : { calls: [many] });
  await scene.answerNext(chat?.id);
  expect(scene.outcome()).toBe('suspended');
}
const heard = () => listToolMessages(scene.model.asked.at(-1)).map(({ content }) => content);
const questions = async () =>
  (await scene.store.outbox.recent({ ...PLACE, chatId: 'c' }, 9)).map(({ part }) => part);
const answer = (text: string, by?: string) =>
  runAsCommand(scene.store, (one) =>
    one.answerQuestion({ code: 'CODE1', by: by ?? 'test:1', text }),
  );
async function goOn(chatId?: string): Promise<readonly string[]> {
  scene.model.next({ say: 'Done.' });
  await scene.answerNext(chatId);
  expect(scene.outcome()).toBe('answered');
  return heard();
}

describe('a tool that asks the person', () => {
  it('[G02] sends the question with a button for each choice and suspends the turn', async () => {
    await asked();
    const [question] = await questions();
    expect(question?.body.plain).toBe(
      'Which one?\n\n1. Blue\n2. Red\n\nAnswer with a number or in your own words; skip leaves it open. I’ll wait 15 minutes.',
    );
    expect(question?.buttons).toEqual([
      { label: 'Blue', data: '/answer CODE1 1' },
      { label: 'Red', data: '/answer CODE1 2' },
      { label: 'Skip', data: '/answer CODE1 skip' },
    ]);
    expect(await scene.store.approvals.waiting(0)).toEqual([]);
  });

  const labels = async () => (await questions()).at(-1)?.buttons?.map(({ label }) => label);

  it('[F18] [G02] offers a button for free text if the platform has input fields', async () => {
    await asked(undefined, { inputs: true });
    expect((await questions()).at(-1)?.buttons?.slice(-2)).toEqual([
      { label: 'Answer…', data: '/answer CODE1', asks: 'Your answer' },
      { label: 'Skip', data: '/answer CODE1 skip' },
    ]);
  });

  it.each([
    [7, {}, 8],
    // If no buttons fit, the person answers with a number from the text.
    [8, {}, 1],
    [7, { inputs: true as const }, 2],
    [25, { inputs: true as const, maxButtons: 27 }, 27],
  ])(
    '[F18] [G02] offers %i choices as buttons only if they all fit: %o',
    async (count, route, shown) => {
      await asked(undefined, { count, ...route });
      expect(await labels()).toHaveLength(shown);
      await scene.write(String(count));
      expect(await goOn()).toEqual([`They chose: Shade ${count}`]);
    },
  );

  it.each([
    ['2', 'They chose: Red'],
    ['skip', 'They skipped the question. Go on without an answer.'],
    ['rather green', 'They answered in their own words: rather green'],
  ])('[G02] resumes the turn after a button or command says %s', async (text, result) => {
    await asked();
    expect((await answer(text))?.kind).toBe('answered');
    expect(await goOn()).toEqual([result]);
    expect((await answer('1'))?.kind).toBe('closed');
  });

  it.each([
    ['1.', 'They chose: Blue'],
    ['red', 'They chose: Red'],
    ['Skip', 'They skipped the question. Go on without an answer.'],
    ['rather green', 'They answered in their own words: rather green'],
  ])('[G02] [D03] resumes the turn with the message %s, which joins it', async (text, result) => {
    await asked();
    await scene.write(text);
    expect(await goOn()).toEqual([result]);
    expect((await scene.store.lanes.withWork(9, 10_000)).length).toBe(0);
    expect(JSON.stringify(scene.model.asked.at(-1)?.messages.at(-1))).toContain(text);
  });

  it('[G02] [W02] accepts an answer in a group only from the person who was asked', async () => {
    await asked(GROUP);
    expect((await scene.owed('-9'))[0]).toMatch(/^Bo: Which one\?.*Reply.*10 minutes/s);
    await scene.write('2', { chat: GROUP });
    await expect(scene.begin('-9')).rejects.toThrow();
    await scene.write('1', { chat: GROUP, sender: BO });
    expect(await goOn('-9')).toEqual(['They chose: Blue']);
    scene.model.next({ say: 'Hello.' });
    await scene.answerNext('-9');
    expect(scene.outcome()).toBe('answered');
  });

  it('[G02] resumes the turn without an answer after the deadline', async () => {
    await asked();
    scene.later(16 * MINUTE);
    expect(await scene.store.approvals.expire(Date.UTC(2026, 10, 21, 13, 21))).toEqual(['c']);
    expect(await goOn()).toEqual([
      'No answer within 15 minutes. Go on without it, and say what you assumed.',
    ]);
  });

  it('[G02] ignores an approval and answers from another chat', async () => {
    await asked();
    const order = { code: 'CODE1', verdict: 'approved', by: 'test:1' } as const;
    const decided = await runAsCommand(scene.store, (one) => one.decideApproval(order));
    expect(decided?.kind).not.toBe('decided');
    expect((await answer('1', 'test:7'))?.kind).toBe('others');
    const said = { code: 'CODE1', by: 'test:1', text: '1' };
    const elsewhere = await runAsCommand(scene.store, (one) => one.answerQuestion(said), 'd');
    expect(elsewhere?.kind).toBe('elsewhere');
  });

  it('[G02] leaves a message with files to a separate turn', async () => {
    await asked();
    const file = { kind: 'document', mimeType: 'text/plain', name: 'a.txt' } as const;
    await scene.write('see', { files: [{ ...file, bytes: new TextEncoder().encode('x') }] });
    expect((await goOn())[0]).toContain('They sent files');
    scene.model.next({ say: 'Read.' });
    await scene.answerNext();
    expect(scene.outcome()).toBe('answered');
  });
});
