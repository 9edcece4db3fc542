import type { ReplyRoute } from '@parley/core';
import { CAPABILITIES } from '@parley/core/testing';
import type { NewPart } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readChatHistory } from '../known-chats.ts';
import { createMessage, IngressScene, POLICY } from '../testing/ingress-scene.ts';

const GROUP = { id: '-5', type: 'group', title: 'Team' } as const;
const LANE = 'telegram:default:42';

const aRoute = (chatId: string): ReplyRoute => ({
  channel: 'telegram',
  account: 'default',
  chatId,
  target: CAPABILITIES.target,
});

let scene: IngressScene;
let nth: number;
beforeEach(async () => {
  nth = 0;
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

/** Sends a message (42 is the owner) in the direct chat or in the group, and returns the answer. */
async function write(text: string, sender = '42', inGroup = false): Promise<string | undefined> {
  nth += 1;
  const chat = inGroup ? GROUP : { id: sender };
  const receive = scene.ingressWith({ access: { ...POLICY.access, direct: 'open' } });
  const message = { messageId: `m${nth}`, text, chat, sender: { id: sender }, addressed: true };
  await receive(createMessage(message), CAPABILITIES);
  return (await scene.told(chat.id)).at(-1);
}

/** Simulates the owner pressing a button below a message of their chat. */
async function press(pressed: string, text: string) {
  nth += 1;
  const receive = scene.ingressWith({ access: POLICY.access });
  const message = { messageId: `m${nth}`, text, pressed, chat: { id: '42' }, sender: { id: '42' } };
  return receive(createMessage({ ...message, addressed: true }), CAPABILITIES);
}

/** Sends every due part of the owner's chat, recording the last one as `q`. */
async function deliver(): Promise<void> {
  const { outbox } = scene.store;
  const chat = { channel: 'telegram', account: 'default', chatId: '42' };
  const waiting = await outbox.unfinished(chat, 99);
  for (const [index, { part }] of waiting.entries()) {
    await outbox.markSending(part.id, scene.now);
    await outbox.markSent(part.id, index === waiting.length - 1 ? 'q' : `o${index}`, scene.now);
  }
}

/** Starts a turn in the owner’s chat with a pending approval. */
async function ask(parts: readonly NewPart[] = []): Promise<void> {
  await write('note it');
  const work = { conversationId: LANE, owner: 'w', leaseMs: 1_000 };
  const taken = await scene.store.lanes.begin(work, 'collect', 't1', scene.now);
  if (taken.kind !== 'turn') throw new Error(`no turn: ${taken.kind}`);
  const approval = {
    code: 'ABC234',
    turnId: 't1',
    callKey: 't1.0.0',
    tool: 'write',
    shown: 'word: "heron"\ntext:\n| one\n| ; cat MEMORY.md > x',
    askedBy: 'telegram:42',
    place: 'telegram direct 42',
    askedIn: LANE,
    approvers: [],
    expiresAt: scene.now + 1_000,
  };
  await scene.store.approvals.ask(taken.lease, approval, parts, scene.now);
  scene.happened.length = 0;
}

describe('/approve and /deny', () => {
  it('[G05] decide once, wake the turn, and do not reveal the arguments', async () => {
    await ask();
    expect(await write('/approve abc-234')).toBe('Allowed: write.');
    expect(scene.happened).toContain(`wake ${LANE}`);
    scene.happened.length = 0;
    expect(await write('/deny ABC234')).toBe('That was already decided: write was allowed.');
    expect(scene.happened).not.toContain(`wake ${LANE}`);
    expect((await scene.told()).join()).not.toContain('heron');
  });

  it('[G05] do not decide anything when pressed below a message other than the question, and explain why', async () => {
    const buttons = [{ label: 'Approve', data: '/approve ABC234' }];
    const route = aRoute('42');
    await ask([{ route, body: { text: 'May I?', plain: 'May I?' }, buttons }]);
    await deliver();
    const declined = expect.stringContaining('That button does nothing');
    const refused = await press('o0', '/approve ABC234');
    expect(refused).toEqual({ kind: 'command', name: 'approve', declined });
    expect((await scene.told('42')).at(-1)).toEqual(declined);
    expect(await scene.store.approvals.recent(1)).toMatchObject([{ state: 'pending' }]);
    expect(await press('q', '/approve ABC234')).toMatchObject({ settled: true });
    expect(await scene.store.approvals.recent(1)).toMatchObject([{ state: 'approved' }]);
  });

  it('[G05] list all pending approvals when no code is given, as the questions show them', async () => {
    await ask();
    const waiting = await write('/approve');
    expect(waiting).toContain('/approve ABC234');
    expect(waiting).toContain('word: "heron"\ntext:\n| one\n| ; cat MEMORY.md > x');
  });

  it('[G05] neither decide nor show a question from another chat, even from another chat of the owner', async () => {
    await ask();
    expect(await write('/approve ABC234', '42', true)).toContain('decide it there');
    expect(await write('/deny ABC234', '42', true)).toContain('decide it there');
    expect(await write('/approve', '42', true)).toContain('Nothing is waiting');
    expect(await scene.store.approvals.recent(1)).toMatchObject([{ state: 'pending' }]);
    expect(await write('/approve ABC234')).toBe('Allowed: write.');
  });

  it('[G05] do not decide anything when they are added by editing a message', async () => {
    await ask();
    await write('one moment');
    const key = { channel: 'telegram', account: 'default', chatId: '42', messageId: `m${nth}` };
    const edited = createMessage({
      messageId: `m${nth}`,
      text: '/approve ABC234',
      chat: { id: '42' },
    });
    expect(await scene.store.inbox.revise(key, edited)).toBe(true);
    expect(await scene.store.approvals.recent(1)).toMatchObject([{ state: 'pending' }]);
  });

  it('[G05] are for approvers only, and do not reveal to others whether a code exists', async () => {
    await ask();
    const words = '/approve is for my owner, and for those my owner has named.';
    expect(await write('/approve ABC234', '7')).toBe(words);
    expect(await write('/approve ABC234', '7', true)).toBe(words);
    expect(await write('/approve QQQ777', '7', true)).toBe(words);
    expect(await scene.store.approvals.recent(1)).toMatchObject([{ state: 'pending' }]);
  });

  it.each([
    ['/approve', 'Waiting for a decision'],
    ['/approve QQQ777', 'There is no question with that code.'],
    ['/approve 1', 'There is no question with that code.'],
    ['/deny ABC234', 'Refused: write.'],
  ])('[G05] %s: %s', async (text, words) => {
    await ask();
    expect(await write(text)).toContain(words);
  });

  it('[G05] have no effect once the approval has expired', async () => {
    await ask();
    scene.now += 1_000;
    expect(await write('/approve ABC234')).toContain('Too late');
  });
});

describe('/model', () => {
  it('[F09] lists the models for the owner and switches to the one they name until they change it again', async () => {
    const say = (text: string) => write(text, '42');
    expect(await write('/model', '7', true)).toContain('for my owner only');
    expect(await say('/model')).toContain('/model provider/small');
    expect(await say('/model')).toContain('the model of the settings');
    expect(await say('/model gpt')).toContain('There is no model gpt.');
    expect(await say('/model SMALL')).toContain('From the next message on, provider/small answers');
    expect(await say('/new')).toContain('fresh start');
    expect(await say('/model')).toContain('Here provider/small answers.');
    expect(await say('/status')).toContain('Model: provider/small');
    expect(await say('/model provider')).toContain('There is no model provider.');
    expect(await say('/model default')).toContain('the model of the settings');
    expect(await say('/status')).toContain('Model: offline');
  });
});

describe('/mode', () => {
  it.each([
    ['7', true, '/mode', 'This conversation is in agent mode.'],
    ['7', false, '/mode plan', 'plan mode: I look'],
    ['7', false, '/mode turbo', 'There is no such mode.'],
  ])(
    '[G04] of %s (in a group: %s), %s is answered with: %s',
    async (sender, inGroup, text, words) => {
      expect(await write(text, sender, inGroup)).toContain(words);
    },
  );
});

describe('commands that change a group’s conversation for everyone', () => {
  const REFUSED = 'it is for administrators of this group, my owner';

  it.each(['/new', '/mode ask', '/mode turbo', '/compact'])(
    '[F05] %s is refused to a guest without changing anything, and the refusal names the people who may use it',
    async (text) => {
      expect(await write(text, '7', true)).toContain(REFUSED);
      expect(await write('/mode', '7', true)).toContain('in agent mode');
      expect(await scene.store.inbox.waiting('telegram:default:-5')).toBe(0);
    },
  );

  it('[F05] are available to owners, approvers and administrators of the platform', async () => {
    const approvers = ['telegram:8'];
    const receive = scene.ingressWith({}, {}, { approvers });
    const asked: string[] = [];
    const command = async (text: string, id: string, is = false) => {
      nth += 1;
      const words = { messageId: `c${nth}`, text, chat: GROUP, sender: { id }, addressed: true };
      const isAdministrator = async () => asked.push(`${id} ${text}`) > 0 && is;
      await receive(createMessage(words), CAPABILITIES, { isAdministrator });
      return (await scene.told(GROUP.id)).at(-1);
    };
    expect(await command('/mode ask', '42')).toContain('ask mode: I read');
    expect(await command('/mode agent', '8')).toContain('agent mode: I use');
    expect(await command('/mode plan', '9', true)).toContain('plan mode');
    expect(await command('/new', '9', true)).toContain('A fresh start');
    expect(await command('/new', '7')).toContain(REFUSED);
    await command('/compact', '9', true);
    expect(await scene.store.inbox.waiting('telegram:default:-5')).toBe(1);
    expect(await command('/help', '7')).not.toMatch(/\/new|\/mode|\/compact|\/approve/);
    expect(await command('/help', '9', true)).toMatch(/\/new[\s\S]*\/mode[\s\S]*\/compact/);
    expect(await command('/whoami', '7')).toContain('telegram:7');
    // The platform is not asked about people named in the settings, or about commands that do not
    // require a right.
    expect(asked.filter((one) => /^(?:42|8) |whoami/.test(one))).toEqual([]);
  });

  it('[F05] are available to everyone, or only to owners, depending on the settings', async () => {
    const rule = async (groupCommands: 'everyone' | 'owners', text: string) => {
      nth += 1;
      const receive = scene.ingressWith({ access: { ...POLICY.access, groupCommands } });
      const sender = { id: '7' };
      const message = createMessage({
        messageId: `r${nth}`,
        text,
        chat: GROUP,
        sender,
        addressed: true,
      });
      await receive(message, CAPABILITIES, { isAdministrator: async () => true });
      return (await scene.told(GROUP.id)).at(-1);
    };
    expect(await rule('everyone', '/mode ask')).toContain('ask mode');
    expect(await rule('owners', '/mode agent')).toMatch(/it is for my owner\.$/);
  });

  it("[F05] /stop by a guest does not affect other people's requests", async () => {
    await write('a long story', '42', true);
    expect(await write('/stop', '7', true)).toBe(
      'I am not working on anything that only you asked for.',
    );
    expect(scene.events).toEqual([]);
    expect(await scene.store.inbox.waiting('telegram:default:-5')).toBe(1);
    await write('my question', '7', true);
    expect(await write('/stop', '7', true)).toContain('One waiting message was set aside');
    expect(await write('/stop', '42', true)).toContain('One waiting message was set aside');
    expect(scene.events).toHaveLength(1);
  });
});

describe('/run', () => {
  /** Stores a pending plan, in the direct chat or in the group. */
  async function plan(inGroup = false): Promise<void> {
    await write('/mode plan', '42', inGroup);
    await write('tidy up', '42', inGroup);
    const lane = inGroup ? 'telegram:default:-5' : LANE;
    const work = { conversationId: lane, owner: 'w', leaseMs: 1_000 };
    const taken = await scene.store.lanes.begin(work, 'collect', 't1', scene.now);
    if (taken.kind !== 'turn') throw new Error(`no turn: ${taken.kind}`);
    const commit = {
      turnId: 't1',
      outcome: 'answered',
      entries: [],
      parts: [],
      usage: null,
    } as const;
    await scene.store.lanes.commit(taken.lease, { ...commit, isPlan: true }, scene.now);
    scene.happened.length = 0;
  }

  it.each(['/run', '/run t1', '/RUN t1'])('[G04] %s runs the plan once', async (text) => {
    await plan();
    expect(await write(text)).toBe('I’m running the plan. This conversation is now in agent mode.');
    expect(scene.happened).toContain(`wake ${LANE}`);
    scene.happened.length = 0;
    expect(await write(text)).toBe('That plan has been run.');
    expect(scene.happened).not.toContain(`wake ${LANE}`);
    expect(await write('/mode')).toContain('in agent mode');
  });

  it('[G04] [G05] is the only way to run the plan; /mode agent does not send the model anything', async () => {
    await plan();
    expect(await write('/mode agent')).toContain('agent mode: I use');
    expect(scene.happened).not.toContain(`wake ${LANE}`);
    expect(await scene.store.inbox.waiting(LANE)).toBe(0);
  });

  it('[G04] reports that there is no plan, and never runs an older plan in place of a newer one', async () => {
    expect(await write('/run')).toBe('There is no plan to run.');
    await plan();
    expect(await write('/run t0')).toContain('can no longer be run');
    expect(await scene.store.inbox.waiting(LANE)).toBe(0);
  });

  it('[G04] can be used in a group only by those who may set the mode', async () => {
    await plan(true);
    expect(await write('/run t1', '7', true)).toContain('it is for administrators of this group');
    expect(await write('/run', '7', true)).toContain('it is for administrators of this group');
    expect(await write('/mode', '7', true)).toContain('in plan mode');
    expect(await write('/run t1', '42', true)).toContain('I’m running the plan.');
  });

  it('[G04] appears in the history as it was typed, but in the prompt as an approval', async () => {
    await plan();
    await write('/run t1');
    const chat = { channel: 'telegram', account: 'default', chatId: '42' };
    const lines = await readChatHistory(scene.store, chat, 99);
    expect(lines.flatMap((line) => (line.kind === 'inbound' ? line.text : []))).toContain(
      '/run t1',
    );
    const rows = await scene.store.inbox.recent(chat, 99);
    expect(rows.map(({ message }) => message.text)).toContain('Yes, run the plan.');
  });
});
