import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { NewSoulVersion, SoulVerdict } from './soul-versions.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';

const PASSED: SoulVerdict = { state: 'passed', score: 90, findings: [], appliesAt: 100 };
const FINDING = { rule: 'length', points: 10, blocks: false, text: 'Rather long.' };

const soul = (askedBy: string, more: Partial<NewSoulVersion> = {}): NewSoulVersion => ({
  askedBy,
  text: `text of ${askedBy}`,
  head: '',
  author: 'agent',
  by: 'turn t1',
  reason: 'kinder',
  basedOn: 0,
  diff: '+kinder',
  ...more,
});

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`versions of SOUL.md on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.souls.seed('main', { text: 'Be kind.', head: '', by: null }, 1);
    });
    afterAll(() => database.dispose());

    const propose = (askedBy: string, more: Partial<NewSoulVersion> = {}, most = 5) =>
      store.souls.propose('main', soul(askedBy, more), most, 2);
    const stateOf = async (number: number) => (await store.souls.get('main', number))?.state;
    /** Proposes a version and records that it passed. */
    const pass = async (askedBy: string, more: Partial<NewSoulVersion> = {}) => {
      const proposal = await propose(askedBy, more);
      if (proposal.kind === 'full') throw new Error('full');
      await store.souls.judge('main', proposal.version.number, PASSED, 3);
      return proposal.version.number;
    };

    it('[W06] creates version 0 once for each agent and puts it in use', async () => {
      expect(await store.souls.seed('main', { text: 'Be evil.', head: '', by: null }, 2)).toBe(
        false,
      );
      const version = await store.souls.applied('main');
      expect(version).toMatchObject({ number: 0, text: 'Be kind.', author: 'seed', basedOn: null });
      expect(version).toMatchObject({ state: 'applied', appliedAt: 1, score: null });
      expect(await store.souls.applied('other')).toBeNull();
      expect(await store.souls.seed('other', { text: 'Hm.', head: '', by: null }, 2)).toBe(true);
      expect(await store.souls.unnotified('main')).toEqual([]);
    });

    it('[W06] creates only one version 0 when two processes start simultaneously', async () => {
      const seeds = ['a', 'b', 'c'].map((text) =>
        store.souls.seed('new', { text, head: '', by: null }, 1),
      );
      expect((await Promise.all(seeds)).filter(Boolean)).toHaveLength(1);
      expect(await store.souls.list('new', 9)).toHaveLength(1);
    });

    it("[W06] stores a proposal's text, diff, reason and author, and only one proposal per call", async () => {
      const first = await propose('t1.0.0');
      expect(first).toMatchObject({ kind: 'proposed', version: { number: 1, state: 'proposed' } });
      const again = await propose('t1.0.0', { text: 'another' });
      expect(again).toMatchObject({ kind: 'known', version: { text: 'text of t1.0.0' } });
      expect(await store.souls.get('main', 1)).toMatchObject(
        (({ askedBy: _, ...rest }) => rest)(soul('t1.0.0')),
      );
    });

    it('[W06] assigns separate numbers to versions that are proposed simultaneously', async () => {
      await Promise.all(['a', 'b', 'c', 'd'].map((key) => propose(key)));
      const numbers = (await store.souls.list('main', 9)).map(({ number }) => number);
      expect(numbers).toEqual([4, 3, 2, 1, 0]);
    });

    it("[W06] limits the agent's open proposals, and drops a person's oldest proposal to make room", async () => {
      await propose('a', {}, 2);
      await propose('b', {}, 2);
      expect(await propose('c', {}, 2)).toEqual({ kind: 'full' });
      for (const key of ['p', 'q', 'r']) await propose(key, { author: 'person' }, 2);
      expect(await Promise.all([1, 2, 3, 4, 5].map(stateOf))).toEqual([
        'proposed',
        'proposed',
        'replaced',
        'proposed',
        'proposed',
      ]);
    });

    it('[W06] records an evaluation once, with its score and findings, and whether the owner was notified', async () => {
      await propose('a');
      expect((await store.souls.unjudged('main')).map(({ number }) => number)).toEqual([1]);
      const refused: SoulVerdict = { ...PASSED, state: 'refused', score: 20, findings: [FINDING] };
      expect(await store.souls.judge('main', 1, refused, 3)).toBe(true);
      expect(await store.souls.judge('main', 1, PASSED, 4)).toBe(false);
      expect(await store.souls.unjudged('main')).toEqual([]);
      const [told] = await store.souls.unnotified('main');
      expect(told).toMatchObject({ number: 1, state: 'refused', score: 20, findings: [FINDING] });
      await store.souls.notified('main', 1, 'passed');
      expect(await store.souls.unnotified('main')).toHaveLength(1);
      await store.souls.notified('main', 1, 'refused');
      expect(await store.souls.unnotified('main')).toEqual([]);
    });

    it('[W06] applies a version only if it passed, and only over the version that it was written against', async () => {
      await propose('a');
      expect(await store.souls.apply('main', 1, 'telegram:1', 0, 5)).toBe(false);
      await store.souls.judge('main', 1, PASSED, 3);
      expect(await store.souls.apply('main', 1, 'telegram:1', 7, 5)).toBe(false);
      expect(await store.souls.apply('main', 1, 'telegram:1', 0, 5)).toBe(true);
      expect(await store.souls.apply('main', 1, 'telegram:1', 1, 6)).toBe(false);
      expect(await store.souls.applied('main')).toMatchObject({
        number: 1,
        appliedAt: 5,
        appliesAt: null,
        decidedBy: 'telegram:1',
      });
      expect(await stateOf(0)).toBe('replaced');
      expect(await store.souls.wasApplied('main', 'Be kind.')).toBe(true);
      expect(await store.souls.wasApplied('main', 'Be evil.')).toBe(false);
    });

    it('[W06] applies only one of two versions when both are applied at the same time', async () => {
      const [one, two] = [await pass('a'), await pass('b')];
      const done = await Promise.all([
        store.souls.apply('main', one, null, 0, 5),
        store.souls.apply('main', two, null, 0, 5),
      ]);
      expect(done.filter(Boolean)).toHaveLength(1);
    });

    it('[W06] does not apply a vetoed version after it becomes due or after a second veto', async () => {
      const number = await pass('a');
      expect((await store.souls.due('main', 99)).length).toBe(0);
      expect((await store.souls.due('main', 100)).length).toBe(1);
      expect(await store.souls.close('main', number, 'vetoed', 'telegram:1', 6)).toBe(true);
      expect(await store.souls.close('main', number, 'vetoed', 'telegram:2', 7)).toBe(false);
      expect(await store.souls.due('main', 100)).toEqual([]);
      expect(await store.souls.apply('main', number, 'telegram:1', 0, 8)).toBe(false);
      expect(await store.souls.get('main', number)).toMatchObject({
        state: 'vetoed',
        decidedBy: 'telegram:1',
      });
      expect(await store.souls.unnotified('main')).toEqual([]);
    });

    it('[W06] returns to an old text once, as a new version with the current front matter', async () => {
      await pass('a', { head: '---\naudience: owner\n---\n' });
      await store.souls.apply('main', 1, null, 0, 5);
      const order = {
        to: 0,
        askedBy: 'm1',
        by: 'telegram:1',
        reason: 'back',
        basedOn: 1,
        diff: '-',
      };
      expect(await store.souls.rollback('main', { ...order, basedOn: 0 }, 6)).toBeNull();
      const back = await store.souls.rollback('main', order, 6);
      expect(back).toMatchObject({
        number: 2,
        text: 'Be kind.',
        author: 'person',
        state: 'applied',
      });
      expect(back?.head).toContain('audience: owner');
      expect(await store.souls.rollback('main', order, 7)).toEqual(back);
      expect(await store.souls.list('main', 9)).toHaveLength(3);
    });

    it('[W06] refuses to return to a text that was never in use', async () => {
      await pass('a');
      const order = { to: 1, askedBy: 'm1', by: 'x', reason: 'back', basedOn: 0, diff: '' };
      expect(await store.souls.rollback('main', order, 6)).toBeNull();
      expect(await store.souls.rollback('main', { ...order, to: 9 }, 6)).toBeNull();
      expect((await store.souls.applied('main'))?.number).toBe(0);
    });
  });
}
