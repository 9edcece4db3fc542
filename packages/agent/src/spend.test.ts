import { afterEach, describe, expect, it } from 'vitest';
import { findReachedCap, formatCapNotice, type SpendCaps } from './spend.ts';
import { createCountingTool } from './testing/tool-scene.ts';
import { openTurnScene, type SceneOptions, type TurnScene } from './testing/turn-scene.ts';

/** Short notation for a spend, used in the tables below. */
const of = (tokens: number, costUsd = 0) => ({ tokens, costUsd });
const NONE = { person: of(0), group: of(0), total: of(0) };

interface Row {
  readonly caps: Omit<SpendCaps, 'capOwners'>;
  readonly spent?: Partial<typeof NONE>;
  readonly turn?: ReturnType<typeof of>;
  readonly owner?: 'exempt' | 'capped';
  readonly by?: 'stranger';
  readonly reached: ReturnType<typeof findReachedCap>;
}
const person = { perPersonDaily: { tokens: 100 } };
const group = { perGroupDaily: { tokens: 100 } };
const total = { totalDaily: { usd: 2 } };

const ROWS: Readonly<Record<string, Row>> = {
  'no caps': { caps: {}, spent: { total: of(9e9, 9e9) }, reached: null },
  'a cap on nothing': { caps: { totalDaily: {} }, spent: { total: of(9e9) }, reached: null },
  'one token left': { caps: person, spent: { person: of(99) }, reached: null },
  'all used': { caps: person, spent: { person: of(100) }, reached: 'perPersonDaily' },
  'used by this turn itself': {
    caps: person,
    spent: { person: of(60) },
    turn: of(40),
    reached: 'perPersonDaily',
  },
  'used by others': { caps: person, spent: { total: of(900) }, reached: null },
  'used by the group': { caps: group, spent: { group: of(100) }, reached: 'perGroupDaily' },
  'used by all': { caps: total, spent: { total: of(1, 2) }, reached: 'totalDaily' },
  'money of this turn': {
    caps: total,
    spent: { total: of(1, 1.5) },
    turn: of(1, 0.5),
    reached: 'totalDaily',
  },
  'money alone left': {
    caps: { perPersonDaily: { tokens: 10, usd: 5 } },
    spent: { person: of(10, 1) },
    reached: 'perPersonDaily',
  },
  'a stranger': {
    caps: { perStrangerDaily: { tokens: 100 }, perPersonDaily: { tokens: 900 } },
    spent: { person: of(100) },
    by: 'stranger',
    reached: 'perStrangerDaily',
  },
  'the cap of strangers, asked by others': {
    caps: { perStrangerDaily: { tokens: 100 } },
    spent: { person: of(100) },
    reached: null,
  },
  'an owner': {
    caps: { ...person, ...group },
    spent: { person: of(999), group: of(999) },
    owner: 'exempt',
    reached: null,
  },
  'an owner who asked for it': {
    caps: person,
    spent: { person: of(999) },
    owner: 'capped',
    reached: 'perPersonDaily',
  },
  'an owner and the total': {
    caps: total,
    spent: { total: of(0, 3) },
    owner: 'exempt',
    reached: 'totalDaily',
  },
};

describe('a spend cap', () => {
  it.each(Object.entries(ROWS))(
    '[G17] with %s',
    (_title, { caps, spent, turn, owner, by, reached }) => {
      const capOwners = owner === 'capped';
      const asks = {
        turn: turn ?? of(0),
        by: owner === undefined ? (by ?? 'known') : 'owner',
      } as const;
      expect(findReachedCap({ ...caps, capOwners }, { ...NONE, ...spent }, asks)).toBe(reached);
    },
  );

  it('[G17] is reported in a sentence without amounts, and its setting is named only to owners', () => {
    const told = (toOwner: boolean) =>
      formatCapNotice('totalDaily', { timeZone: 'Europe/Berlin', toOwner });
    expect(told(false)).toBe(
      'I have used up my daily allowance. I can answer again after midnight (Europe/Berlin).',
    );
    expect(told(true)).toContain('spend.totalDaily');
    expect(told(true)).not.toMatch(/\d/);
  });

  it.each([
    ['2026-11-21T00:10:00Z', 'almost a day'],
    ['2026-11-21T16:10:00Z', 'about seven hours'],
    ['2026-11-21T22:00:00Z', 'about an hour'],
    ['2026-11-21T22:45:00Z', 'less than an hour'],
  ])(
    '[G17] is reported at %s with the time until answers resume in %s, and with its reason',
    (now, wait) => {
      const place = { timeZone: 'Europe/Berlin', toOwner: false, now: Date.parse(now) };
      const told = formatCapNotice('perStrangerDaily', place);
      expect(told).toContain(`after midnight (Europe/Berlin), in ${wait}.`);
      expect(told).toContain('Everyone may write to me here and each answer costs money');
      expect(told).not.toMatch(/\d/);
    },
  );
});

describe('charging for turns', () => {
  const BO = { id: '2', name: 'Bo', isBot: false };
  const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;
  /** The day to which the usage of all scenes is charged. */
  const ADA = { day: '2026-11-21', personId: 'test:1', groupId: null };
  const OF_BO = { day: '2026-11-21', personId: 'test:2', groupId: 'test:default:-9' };

  let scene: TurnScene;
  afterEach(() => scene?.close());

  /** Each model step uses 12 tokens and costs half a dollar. */
  async function open(caps: SceneOptions['caps'], extras: SceneOptions = {}): Promise<void> {
    scene = await openTurnScene({}, { ...extras, ...(caps && { caps }) });
  }
  const asks = async (chat?: typeof GROUP, sender?: typeof BO) => {
    await scene.write('hello', { ...(chat && { chat }), ...(sender && { sender }) });
    await scene.answerNext(chat?.id);
    return (await scene.owed(chat?.id)).at(-1);
  };
  const USED_UP = '⚙️ You have used up your daily allowance.';

  describe('the usage of a turn', () => {
    it('[G17] is charged to the person who asked and to the group, summed over all steps', async () => {
      const parrot = createCountingTool('parrot').tool;
      await open(undefined, { tools: [parrot] });
      const calls = [{ name: 'parrot', with: { word: 'a' } }];
      scene.model.next({ say: '', calls });
      await asks(GROUP, BO);
      await asks();
      expect(await scene.store.spend.of(OF_BO)).toMatchObject({
        person: { tokens: 24, costUsd: 1 },
        group: { tokens: 24, costUsd: 1 },
        total: { tokens: 36, costUsd: 1.5 },
      });
    });

    it('[U07] is added to the account per person, including cached input', async () => {
      await open(undefined, { tools: [createCountingTool('parrot').tool] });
      scene.model.next({ say: '', calls: [{ name: 'parrot', with: { word: 'a' } }] });
      await asks(GROUP, BO);
      await asks();
      const range = { lastDay: ADA.day, days: 1, timeZone: 'UTC', agent: 'main' };
      const { rows, total } = await scene.store.usage.sums({ ...range, by: 'person' });
      const used = rows.map(({ name, title, inputTokens, cachedTokens, costUsd }) => {
        return { name, title, inputTokens, cachedTokens, costUsd };
      });
      expect(used).toEqual([
        { name: 'test:2', title: 'Bo', inputTokens: 20, cachedTokens: 8, costUsd: 1 },
        { name: 'test:1', title: 'Ada', inputTokens: 10, cachedTokens: 4, costUsd: 0.5 },
      ]);
      expect(total.inputTokens + total.outputTokens).toBe(36);
    });

    it('[G17] is charged even if the turn later fails or stays silent', async () => {
      await open(undefined, { tools: [createCountingTool('parrot').tool] });
      const calls = [{ name: 'parrot', with: { word: 'a' } }];
      scene.model.next({ say: '', calls }, { fail: { kind: 'overloaded' } }, { say: 'NO_REPLY' });
      await asks();
      expect((await scene.store.spend.of(ADA)).person.tokens).toBe(12);
      await asks();
      expect((await scene.store.spend.of(ADA)).person.tokens).toBe(24);
    });
  });

  describe('a stopped turn', () => {
    const stop = async () => {
      const [asked] = await scene.store.inbox.recent(
        { channel: 'test', account: 'default', chatId: 'c' },
        1,
      );
      if (asked === undefined) throw new Error('nobody asked');
      const { message, ...row } = asked;
      const stopping = { ...row, message: { ...message, messageId: 'stop' } };
      await scene.store.inbox.command(stopping, (command) => command.stop());
    };

    it('[G17] is charged for its steps, plus an estimate for the call in progress', async () => {
      const halt = new AbortController();
      await open(undefined, { tools: [createCountingTool('parrot').tool] });
      const calls = [{ name: 'parrot', with: { word: 'a' } }];
      scene.model.next({ say: '', calls }, { say: 'too late', afterMs: 60_000 });
      await scene.write('hello');
      const running = scene.run(await scene.begin(), halt.signal);
      await expect.poll(() => scene.model.asked.length).toBe(2);
      expect((await scene.store.spend.of(ADA)).person).toEqual({ tokens: 12, costUsd: 0.5 });
      await stop();
      halt.abort('stopped');
      await running;
      const { person } = await scene.store.spend.of(ADA);
      // The prompt was already sent, so it is charged.
      expect(person.tokens).toBeGreaterThan(500);
      const { inputTokens, outputTokens } = await scene.store.turns.totals(0);
      expect(inputTokens + outputTokens).toBe(person.tokens);
      expect(person.costUsd).toBe(0.5);
    });

    it('[G17] is charged for its steps while it waits for an approval', async () => {
      const { tool } = createCountingTool('parrot', 'write');
      await open(undefined, { tools: [{ ...tool, approval: 'ask' }] });
      scene.model.next({ say: '', calls: [{ name: 'parrot', with: { word: 'a' } }] });
      await asks();
      await stop();
      expect((await scene.store.spend.of(ADA)).person.tokens).toBe(12);
    });
  });

  describe('a person who has reached the spend cap', () => {
    it('[G17] gets a notice without a model call, and the event is logged', async () => {
      await open({ perPersonDaily: { tokens: 20 }, capOwners: false });
      for (const _ of [1, 2]) expect(await asks(GROUP, BO)).toBe('fine');
      expect(await asks(GROUP, BO)).toContain(USED_UP);
      expect(await asks(GROUP, BO)).not.toMatch(/\d/);
      expect(scene.model.asked).toHaveLength(2);
      expect(scene.logged.filter((line) => line.includes('cap has been reached'))).toHaveLength(1);
      expect(await asks()).toBe('fine');
    });

    it('[G17] gets the notice in the middle of a turn as well, and the usage so far is charged', async () => {
      const parrot = createCountingTool('parrot');
      await open({ perPersonDaily: { usd: 1 }, capOwners: false }, { tools: [parrot.tool] });
      const calls = (word: string) => ({ say: '', calls: [{ name: 'parrot', with: { word } }] });
      scene.model.next(calls('a'), calls('b'), { say: 'never' });
      expect(await asks(GROUP, BO)).toContain(USED_UP);
      expect(parrot.calls).toHaveLength(2);
      expect((await scene.store.spend.of(OF_BO)).person.costUsd).toBe(1);
    });

    it('[G17] can be a stranger if the cap applies only to people with open access', async () => {
      await open({ perStrangerDaily: { tokens: 20 }, capOwners: false });
      for (const _ of [1, 2]) expect(await asks(GROUP, BO)).toBe('fine');
      expect(await asks(GROUP, BO)).toContain(USED_UP);
      // Only the group has open access.
      for (const _ of [1, 2, 3]) expect(await asks(undefined, BO)).toBe('fine');
    });

    it('[G17] can be an owner only if the cap limits the total for all people', async () => {
      await open({ perPersonDaily: { tokens: 1 }, totalDaily: { tokens: 30 }, capOwners: false });
      for (const _ of [1, 2, 3]) expect(await asks()).toBe('fine');
      expect(await asks()).toContain('spend.totalDaily');
    });
  });
});
