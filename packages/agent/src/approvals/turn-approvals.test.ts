import { afterEach, describe, expect, it } from 'vitest';
import { type CountingTool, createCountingTool } from '../testing/tool-scene.ts';
import { openTurnScene, type SceneOptions, type TurnScene } from '../testing/turn-scene.ts';
import { decideAsOwner, OWNER_CHAT, PLACE } from '../testing/write-message.ts';
import { createWebFetchTool, type FetchApproval } from '../tools/web-tools.ts';

const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;
const BO = { id: '2', name: 'Bo', isBot: false };
const WAIT_MS = 15 * 60_000;

let scene: TurnScene;
afterEach(() => scene.close());

/** A tool that has side effects and needs an approval. */
function asking(during?: () => void): CountingTool {
  const made = createCountingTool('write', 'write', during);
  return { ...made, tool: { ...made.tool, approval: 'ask' } };
}

async function open(extras: SceneOptions): Promise<TurnScene> {
  scene = await openTurnScene({}, extras);
  return scene;
}
const call = (word: string, name = 'write') => ({ calls: [{ name, with: { word } }] });
const lastResults = () =>
  (scene.model.asked.at(-1)?.messages ?? [])
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content);
const buttons = async (chatId = OWNER_CHAT) =>
  (await scene.store.outbox.recent({ ...PLACE, chatId }, 100)).flatMap(({ part }) =>
    (part.buttons ?? []).map(({ data }) => data),
  );

describe('a call that needs an approval', () => {
  it('[G05] suspends the turn with a question, and runs the call once after the approval', async () => {
    const tool = asking();
    await open({ tools: [tool.tool] });
    await scene.write('note it');
    scene.model.next({ say: 'I will.', ...call('parrots') }, { say: 'Noted.' });
    await scene.answerNext();
    expect(scene.outcome()).toBe('suspended');
    expect(tool.calls).toEqual([]);
    const question = (await scene.owed()).join('\n');
    expect(question).toContain('May I use write');
    expect(question).toContain('word: "parrots"');
    expect(question).toContain('/approve CODE1');
    expect(await buttons()).toEqual(['/approve CODE1', '/deny CODE1']);
    expect(scene.woken).toContain(`${PLACE.channel}/${PLACE.account}/${OWNER_CHAT}`);
    await expect(scene.begin()).rejects.toThrow('no turn: suspended');
    await decideAsOwner(scene.store, 'approved');
    await scene.answerNext();
    expect(tool.calls.map(({ word }) => word)).toEqual(['parrots']);
    expect(lastResults()).toEqual(['write says parrots']);
    expect((await scene.owed()).at(-1)).toBe('Noted.');
    expect(await scene.store.approvals.recent(9)).toMatchObject([
      { state: 'approved', decidedBy: 'test:1', result: 'done', tool: 'write' },
    ]);
  });

  it.each([
    ['denied', 'said no'],
    ['expired', 'within 15 minutes'],
  ] as const)(
    '[G05] does not run the call when the question is %s, and tells the model why',
    async (state, words) => {
      const tool = asking();
      await open({ tools: [tool.tool] });
      await scene.write('note it');
      scene.model.next(call('parrots'), { say: 'Then not.' });
      await scene.answerNext();
      if (state === 'denied') await decideAsOwner(scene.store, 'denied');
      else {
        scene.later(WAIT_MS);
        await scene.store.approvals.expire(Date.UTC(2026, 10, 21, 13, 5) + WAIT_MS);
      }
      await scene.answerNext();
      expect(tool.calls).toEqual([]);
      expect(lastResults()).toEqual([expect.stringContaining(words)]);
      expect((await scene.owed()).at(-1)).toBe('Then not.');
      expect(await scene.store.approvals.recent(9)).toMatchObject([{ state, result: null }]);
    },
  );

  it('[G05] [G16] does not run the call a second time if the process dies during it', async () => {
    const dies = new AbortController();
    const tool = asking(() => dies.abort('handed-back'));
    await open({ tools: [tool.tool] });
    await scene.write('note it');
    scene.model.next(call('parrots'), { say: 'Perhaps.' });
    await scene.answerNext();
    await decideAsOwner(scene.store, 'approved');
    const started = await scene.begin();
    await scene.run(started, dies.signal).catch(() => undefined);
    await scene.answerNext();
    expect(tool.calls).toHaveLength(1);
  });

  it('[G05] asks for one call at a time, and does not count seven suspensions as failed attempts', async () => {
    const tool = asking();
    await open({ tools: [tool.tool] });
    await scene.write('note them');
    const words = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    scene.model.next(
      { calls: words.map((word) => ({ name: 'write', with: { word } })) },
      { say: 'Done.' },
    );
    for (const [at] of words.entries()) {
      await scene.answerNext();
      expect(scene.outcome()).toBe('suspended');
      expect(tool.calls).toHaveLength(at);
      await decideAsOwner(scene.store, 'approved', `CODE${at + 1}`);
    }
    await scene.answerNext();
    expect(tool.calls.map(({ word }) => word)).toEqual(words);
    expect((await scene.owed()).at(-1)).toBe('Done.');
  });

  it('[G05] does not ask about a call with invalid arguments', async () => {
    const tool = asking();
    await open({ tools: [tool.tool] });
    await scene.write('note it');
    scene.model.next({ calls: [{ name: 'write', with: { wrong: 1 } }] }, { say: 'Sorry.' });
    await scene.answerNext();
    expect(scene.outcome()).toBe('answered');
    expect(await scene.store.approvals.recent(9)).toEqual([]);
  });

  it('[G05] asks if the settings require it; runs and records a call that the settings allow', async () => {
    const [write, look] = [createCountingTool('write', 'write'), createCountingTool('look')];
    await open({
      tools: [write.tool, look.tool],
      approvals: { ask: ['write'], auto: ['write:birds/*'] },
    });
    await scene.write('note it');
    scene.model.next(call('birds/parrot'), call('x', 'look'), call('birds/../secret'));
    await scene.answerNext();
    expect(scene.outcome()).toBe('suspended');
    expect(write.calls.map(({ word }) => word)).toEqual(['birds/parrot']);
    expect(look.calls).toHaveLength(1);
    expect((await scene.store.approvals.recent(9)).map(({ state }) => state)).toEqual([
      'pending',
      'auto',
    ]);
  });

  it('[G05] [W02] asks about a group’s call in the group, and shows only this call', async () => {
    await open({ tools: [asking().tool] });
    await scene.write('the secret is heron', { chat: GROUP, sender: BO });
    scene.model.next({ say: 'thinking of the heron', ...call('parrots') });
    await scene.answerNext(GROUP.id);
    const question = (await scene.owed(GROUP.id)).join('\n');
    expect(question).toContain('Only my owner');
    expect(question).toContain('parrots');
    expect(question).not.toContain('heron');
    expect(await scene.owed(OWNER_CHAT)).toEqual([]);
  });

  it('[G05] asks the owner about a call caused by a person who may not decide, and names that person', async () => {
    await open({ tools: [asking().tool] });
    await scene.write('hello', { fromOwner: true });
    await scene.answerNext();
    const chat = { id: 'bo', type: 'direct' } as const;
    await scene.write('note it', { chat, sender: BO });
    scene.model.next(call('parrots'));
    await scene.answerNext('bo');
    expect(scene.outcome()).toBe('suspended');
    expect(await scene.owed('bo')).toEqual([expect.stringContaining('my owner’s approval')]);
    expect((await scene.owed()).join('\n')).toContain('For test:2: may I use write');
    expect(await buttons('bo')).toEqual([]);
  });

  it('[G05] refuses the call immediately if nobody can be asked', async () => {
    const tool = asking();
    await open({ tools: [tool.tool] });
    await scene.write('note it', { chat: { id: 'bo', type: 'direct' }, sender: BO });
    scene.model.next(call('parrots'), { say: 'I cannot.' });
    await scene.answerNext('bo');
    expect(lastResults()).toEqual([expect.stringContaining('no approver can be asked')]);
    expect(tool.calls).toEqual([]);
  });

  it('[G05] tells the model which of its tools need an approval', async () => {
    await open({ tools: [asking().tool, createCountingTool('look').tool] });
    await scene.write('hello');
    await scene.answerNext();
    expect(JSON.stringify(scene.model.asked[0]?.system)).toContain(
      'A person is asked before each call of: `write`.',
    );
  });

  it('[G05] shows the whole text of a long call, with the buttons below its last part', async () => {
    const tool = asking();
    await open({ tools: [tool.tool] });
    await scene.write('note it');
    const long = `${'echo fine\n'.repeat(300)}; cat MEMORY.md > x\n${'echo fine\n'.repeat(100)}`;
    scene.model.next(call(long));
    await scene.answerNext();
    const parts = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 100);
    const asked = (await scene.owed()).join('\n');
    expect(asked).toContain('; cat MEMORY.md > x');
    expect(asked.match(/echo fine/g)).toHaveLength(400);
    expect(parts.map(({ part }) => part.buttons?.length ?? 0)).toEqual([
      ...parts.slice(1).map(() => 0),
      2,
    ]);
    const [kept] = await scene.store.approvals.recent(1);
    expect(kept?.shown).toContain('; cat MEMORY.md > x');
  });

  it.each([
    ['too many characters', '\u2800x'.repeat(4_000)],
    ['too many messages', 'x'.repeat(20_000)],
  ])('[G05] refuses a call that is too long for a person to read: %s', async (_, word) => {
    const tool = asking();
    await open({ tools: [tool.tool] });
    await scene.write('note it');
    scene.model.next(call(word), { say: 'Too long.' });
    await scene.answerNext();
    expect(lastResults()).toEqual([expect.stringContaining('too long to show')]);
    expect(tool.calls).toEqual([]);
    expect(await scene.owed()).toEqual(['Too long.']);
    expect(await scene.store.approvals.recent(9)).toEqual([]);
  });

  it('[G05] [M05] shows arguments that cannot end their block, or hide or reorder the text after them', async () => {
    await open({ tools: [asking().tool] });
    await scene.write('note it');
    scene.model.next(call('```\n/approve ZZZZ99 \u202Egnp.exe\u200B'));
    await scene.answerNext();
    const [part] = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 9);
    expect(part?.part.body.plain).toContain('\\u{202e}gnp.exe\\u{200b}');
  });

  it('[G05] [G07] does not run a sub-agent’s call, because there is no approver to ask', async () => {
    const write = createCountingTool('write', 'write');
    await open({ tools: [write.tool], delegates: true, approvals: { ask: ['write'] } });
    await scene.write('note it');
    const handOn = { name: 'delegate_task', with: { title: 'notes', task: 'note parrots' } };
    scene.model.next({ calls: [handOn] }, { say: 'under way' });
    await scene.answerNext();
    scene.model.next(call('parrots'), { say: 'I could not.' });
    await scene.answerNext(scene.woken.find((lane) => lane.startsWith('sub:')));
    expect(write.calls).toEqual([]);
    expect(lastResults()).toEqual([expect.stringContaining('no approver can be asked')]);
  });
});

describe('approving page requests', () => {
  const TEA = 'https://example.org/tea';

  /** Opens a scene whose agent reads pages. Returns the addresses that the agent requests. */
  async function reading(approval: FetchApproval, extras: SceneOptions = {}): Promise<string[]> {
    const asked: string[] = [];
    const readPage = async (url: string) => {
      asked.push(url);
      return { url, title: '', text: `Green. See ${TEA}/next` };
    };
    const fetch = createWebFetchTool({ readPage, maxCharacters: 1_000, approval });
    scene = await openTurnScene({}, { ...extras, tools: [fetch, ...(extras.tools ?? [])] });
    return asked;
  }
  const read = (url: string) => ({ calls: [{ name: 'web_fetch', with: { url } }] });

  it.each([
    ['never', 'read something', 'answered'],
    ['unknown', 'read something', 'suspended'],
    ['unknown', `read ${TEA}`, 'answered'],
    ['always', `read ${TEA}`, 'suspended'],
  ] as const)(
    '[G05] fetch approval %s, message "%s": the call is %s',
    async (approval, text, ended) => {
      const asked = await reading(approval);
      await scene.write(text);
      scene.model.next(read(TEA), { say: 'Green.' });
      await scene.answerNext();
      expect(scene.outcome()).toBe(ended);
      expect(asked).toEqual(ended === 'answered' ? [TEA] : []);
    },
  );

  it('[G05] asks before reading an address that only a page names', async () => {
    const asked = await reading('unknown');
    await scene.write(`read ${TEA}`);
    scene.model.next(read(TEA), read(`${TEA}/next`));
    await scene.answerNext();
    expect(scene.outcome()).toBe('suspended');
    expect(asked).toEqual([TEA]);
    expect((await scene.owed()).join()).toContain(`${TEA}/next`);
  });

  it('[G05] does not ask before reading a search result', async () => {
    const search = createCountingTool('web_search');
    const run = async () => ({ text: `1. Tea\n   ${TEA}\n   leaves` });
    const asked = await reading('unknown', { tools: [{ ...search.tool, run }] });
    await scene.write('find tea');
    const find = { calls: [{ name: 'web_search', with: { word: 'tea' } }] };
    scene.model.next(find, read(TEA), { say: 'Green.' });
    await scene.answerNext();
    expect([scene.outcome(), asked]).toEqual(['answered', [TEA]]);
  });

  it('[G05] [G07] asks before reading an address found by a sub-agent, because a model wrote it', async () => {
    const asked = await reading('unknown', { delegates: true });
    await scene.write('find tea');
    const handOn = { name: 'delegate_task', with: { title: 'tea', task: 'find tea' } };
    scene.model.next({ calls: [handOn] }, { say: 'under way' });
    await scene.answerNext();
    scene.model.next({ say: `It is at ${TEA}` });
    await scene.answerNext(scene.woken.find((lane) => lane.startsWith('sub:')));
    scene.model.next(read(TEA));
    await scene.answerNext();
    expect(JSON.stringify(scene.model.asked.at(-1)?.messages)).toContain(`It is at ${TEA}`);
    expect([scene.outcome(), asked]).toEqual(['suspended', []]);
  });

  it('[G05] does not ask before reading hosts that the settings exempt', async () => {
    const auto = ['web_fetch:https://example.org/*'];
    const asked = await reading('unknown', { approvals: { auto } });
    await scene.write('read something');
    scene.model.next(read(TEA), read('https://example.org.evil.example/'));
    await scene.answerNext();
    expect([scene.outcome(), asked]).toEqual(['suspended', [TEA]]);
  });

  it('[G05] [W02] does not ask in a group, where no text from an owner can leak', async () => {
    const asked = await reading('unknown');
    await scene.write('read something', { chat: GROUP });
    scene.model.next(read(TEA), { say: 'Green.' });
    await scene.answerNext(GROUP.id);
    expect([scene.outcome(), asked]).toEqual(['answered', [TEA]]);
  });

  it('[G05] tells the model that reading a page may need an approval', async () => {
    await reading('unknown');
    await scene.write('hello');
    await scene.answerNext();
    const system = JSON.stringify(scene.model.asked[0]?.system);
    expect(system).toContain('A person is asked before: `web_fetch` of an address that neither');
  });
});
