import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from './parley-process.ts';
import { ANN, BO, GROUP, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

let scene: TelegramScene;
beforeEach(async () => {
  scene = await startTelegramScene();
});
afterEach(() => scene.close());

const cli = (...args: string[]) => runCommand(['--data', scene.folder.path, ...args]);
const dead = (...args: string[]) => cli('dead', ...args);
/** Waits until there are this many open dead letters and returns them. */
async function letters(
  count: number,
): Promise<readonly { id: number; kind: string; reason?: string }[]> {
  const look = async () => JSON.parse((await dead('list', '--json')).out).letters;
  await expect.poll(async () => (await look()).length).toBe(count);
  return look();
}
function refuse(
  chat: number,
  refusal: { readonly code: number; readonly description: string; readonly times?: number },
): void {
  scene.telegram.fault({ kind: 'refuse', method: 'sendMessage', chat, ...refusal });
}
const lastRequest = () => JSON.stringify(scene.model.requests.at(-1)?.body.messages);

describe('a part that the platform refused', () => {
  it('[D06] is listed with its text, and is sent once when the chat is open again', async () => {
    const answer = scene.hold('are you there?');
    scene.telegram.say({ chat: BO, text: 'are you there?' });
    await answer.asked;
    scene.telegram.setAccess(BO, 'blocked');
    answer.release();
    const [letter] = await letters(1);
    const id = String(letter?.id);
    const shown = (await dead('show', id)).out;
    expect(shown).toContain(`refused  telegram:${BO}`);
    expect(shown).toContain('bot was blocked by the user');
    expect(shown).toContain('| You said: are you there?');
    expect((await cli('status')).out).toMatch(
      /dead +1 refused, 0 uncertain, 0 unanswered.* dead --data/,
    );

    // Nothing has changed, so sending fails again and creates another dead letter.
    expect(await dead('replay', id)).toMatchObject({ code: 0, out: `Replayed: ${id}.\n` });
    const [again] = await letters(1);
    expect(again?.id).not.toBe(letter?.id);
    expect((await dead('replay', id)).out).toBe(`Done already: ${id}.\n`);

    scene.telegram.setAccess(BO, 'open');
    expect((await dead('replay', '--all')).out).toBe(`Replayed: ${again?.id}.\n`);
    expect(await scene.untilAnswers(BO, 1)).toEqual(['You said: are you there?']);
    expect((await dead('replay', '--all')).out).toBe('There is nothing to do.\n');
    expect((await dead()).out).toContain('No failed messages.');
    scene.telegram.say({ chat: BO, text: 'good' });
    expect(await scene.untilAnswers(BO, 2)).toEqual(['You said: are you there?', 'You said: good']);
    expect((await cli('status')).out).not.toContain('dead ');
    const status = JSON.parse((await cli('status', '--json')).out);
    expect(status.dead).toMatchObject({ refused: 0, uncertain: 0, unanswered: 0 });
  });

  it('[D06] keeps its position among the parts of its answer, even if no process runs in the meantime', async () => {
    const words = Array.from({ length: 1_500 }, (_, index) => `word${index}`).join(' ');
    scene.model.reply(() => words);
    refuse(BO, { code: 403, description: 'Forbidden: bot was blocked by the user', times: 100 });
    scene.telegram.say({ chat: BO, text: 'a story' });
    const found = await letters(4);
    await scene.parley.end();
    scene.telegram.clearFaults();
    const list = await dead();
    expect(list.out).toContain('part 1 of an answer');
    expect(list.out).toContain('4 refused, 0 uncertain, 0 unanswered');
    // The order of the arguments does not matter.
    const replayed = await dead('replay', ...found.map(({ id }) => String(id)));
    expect(replayed.out).toContain('Parley is not running here');
    await scene.startAgain();
    const sent = await scene.untilAnswers(BO, 4);
    expect(sent.join(' ').split(/\s+/)).toEqual(words.split(' '));
  });

  it('[D05] [D06] is mentioned to the agent until it is delivered', async () => {
    refuse(ANN, { code: 400, description: 'Bad Request: not enough rights to send messages' });
    scene.telegram.say({ chat: ANN, text: 'first' });
    const [letter] = await letters(1);
    const before = scene.answers(ANN).length;
    scene.telegram.say({ chat: ANN, text: 'second' });
    await scene.untilAnswers(ANN, before + 1);
    expect(lastRequest()).toContain('Part of your last answer may not have reached this chat');
    await dead('replay', String(letter?.id));
    expect((await scene.untilAnswers(ANN, before + 2)).at(-1)).toBe('You said: first');
    scene.telegram.say({ chat: ANN, text: 'third' });
    await scene.untilAnswers(ANN, before + 3);
    expect(lastRequest()).not.toContain('Not all of your last answer');
  });

  it("[D05] [D06] is kept with the reason when its group is closed, and the owner is notified once, with the group's name", async () => {
    // The owner is notified in the chat used last.
    scene.telegram.say({ chat: ANN, text: 'hello' });
    await scene.untilAnswers(ANN, 1);
    const description = 'Bad Request: TOPIC_CLOSED';
    for (const text of ['to the group', 'and again']) {
      const held = scene.hold(text);
      const chat = { id: GROUP, title: 'Family' };
      scene.telegram.say({ chat, from: BO, text: `@${scene.telegram.me.username} ${text}` });
      await held.asked;
      refuse(GROUP, { code: 400, description });
      held.release();
      const all = await letters(text === 'and again' ? 2 : 1);
      expect(all[0]?.reason).toContain('TOPIC_CLOSED');
    }
    scene.telegram.say({ chat: ANN, text: 'anything?' });
    const told = (await scene.untilAnswers(ANN, 3)).slice(1);
    expect(told).toMatchObject([
      expect.stringMatching(
        /could not be delivered to Family \(telegram -5\).*Open the topic again/s,
      ),
      'You said: anything?',
    ]);
  });

  it('[D06] is never sent or listed again after it was dropped, and /why reports the drop', async () => {
    refuse(ANN, { code: 400, description: 'Bad Request: no' });
    scene.telegram.say({ chat: ANN, text: 'lost' });
    const [letter] = await letters(1);
    const id = String(letter?.id);
    expect(await dead('drop', id)).toMatchObject({ code: 0, out: `Dropped: ${id}.\n` });
    expect((await dead('drop', id)).out).toBe(`Done already: ${id}.\n`);
    expect((await dead('replay', id)).out).toBe(`Done already: ${id}.\n`);
    await letters(0);
    scene.telegram.say({ chat: ANN, text: '/why' });
    await scene.telegram.waitFor(
      () => scene.answers(ANN).some((text) => text.includes('not deliverable')),
      10_000,
    );
    expect(scene.answers(ANN)).not.toContain('You said: lost');
  });
});

describe('a part that may have been delivered', () => {
  it('[D04] [D06] is sent again only when a person asks for it', async () => {
    scene.telegram.fault({ kind: 'reset', method: 'sendMessage', chat: ANN, after: true });
    scene.telegram.say({ chat: ANN, text: 'perhaps' });
    const [letter] = await letters(1);
    const id = String(letter?.id);
    const all = await dead('replay', '--all');
    expect(all.out).toContain('1 may have arrived and are left alone');
    const one = await dead('replay', id);
    expect(one).toMatchObject({ code: 1, out: expect.stringContaining('--allow-duplicates') });
    const told = () => scene.answers(ANN).filter((text) => text === 'You said: perhaps').length;
    expect(told()).toBe(1);
    expect((await dead('replay', id, '--allow-duplicates')).code).toBe(0);
    await scene.telegram.waitFor(() => told() === 2);
  });
});

describe('a message without an answer', () => {
  it('[D06] is retried when the model works again, and is answered once', async () => {
    scene.model.fault({ kind: 'status', status: 401 });
    scene.telegram.say({ chat: BO, text: 'what is the time?' });
    await scene.untilAnswers(BO, 1);
    const [letter] = await letters(1);
    expect(letter).toMatchObject({ kind: 'unanswered' });
    const shown = (await dead('show', String(letter?.id))).out;
    expect(shown).toContain(`unanswered  telegram:${BO}`);
    expect(shown).toContain('| what is the time?');
    expect((await dead('replay', String(letter?.id))).code).toBe(0);
    expect((await scene.untilAnswers(BO, 2)).at(-1)).toBe('You said: what is the time?');
    expect(lastRequest().split('what is the time?')).toHaveLength(2);
    await letters(0);
  });
});
