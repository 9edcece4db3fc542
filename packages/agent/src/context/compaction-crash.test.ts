import type { Store } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type LongConversation,
  openLongConversation,
  QUESTION,
} from '../testing/long-conversation.ts';
import { OWNER_CHAT } from '../testing/write-message.ts';
import type { CompactionServices } from './compactor.ts';

let talk: LongConversation | undefined;
afterEach(async () => {
  await talk?.scene.close();
});

const place = { conversationId: OWNER_CHAT, session: 0 };
const owner = { kind: 'owner', conversationId: OWNER_CHAT } as const;
const order = { ...place, reader: owner, forced: true };
const never = new AbortController().signal;
/** A time span (ms) after which a claim has expired. */
const LATER = 10 * 60_000;

/** A conversation of six turns, the first of which states the code. */
async function sixTurns(): Promise<LongConversation> {
  talk = await openLongConversation({ contextTokens: 8_192 });
  await talk.say('Remember: the code is 4711.');
  for (let turn = 2; turn <= 6; turn += 1) await talk.say(`Tell me more, number ${turn}.`);
  return talk;
}

type Write = 'claim' | 'finish';
interface Death {
  readonly at: Write;
  readonly when: 'before' | 'after';
}

/** A store whose process dies at a given write; later writes are not executed. */
function mortal({ transcript, summaries }: Store, death: Death): CompactionServices['store'] {
  let isDead = false;
  const dies =
    <Args extends unknown[], Result>(name: string, write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (isDead || (name === death.at && death.when === 'before')) {
        isDead = true;
        throw new Error('killed');
      }
      const result = await write(...args);
      isDead = name === death.at;
      if (isDead) throw new Error('killed');
      return result;
    };
  return {
    transcript,
    summaries: {
      ...summaries,
      claim: dies('claim', summaries.claim),
      finish: dies('finish', summaries.finish),
      postpone: dies('postpone', summaries.postpone),
    },
  };
}

const DEATHS = (['claim', 'finish'] as const).flatMap((at) =>
  (['before', 'after'] as const).map((when): Death => ({ at, when })),
);

describe('a worker that dies while it writes a summary', () => {
  it.each(DEATHS)(
    '[G11] [G16] a worker that dies $when its $at loses no messages and leaves one summary',
    async (death) => {
      const { otherWorker, scene, summaries, say } = await sixTurns();
      const before = await scene.store.transcript.oldestAfter(place, 0, 99);
      const dying = otherWorker({ store: mortal(scene.store, death) });
      await expect(dying.now(order, never)).rejects.toThrow('killed');
      const written = death.at === 'finish' && death.when === 'after';
      const latest = () => scene.store.summaries.latest({ ...place, reader: 'owner' });
      expect((await latest()) !== null).toBe(written);
      // Right after the crash, another worker must wait while the claim may still be valid, and
      // reports that.
      const isClaimed = !written && !(death.at === 'claim' && death.when === 'before');
      const atOnce = await otherWorker().now(order, never);
      expect(atOnce.kind).toBe(written ? 'nothing' : isClaimed ? 'busy' : 'done');
      scene.later(LATER);
      const later = await otherWorker().now(order, never);
      expect(later.kind).toBe(isClaimed ? 'done' : 'nothing');
      expect((await latest())?.reaches).toBe(before.at(-5)?.seq);
      expect(summaries.length).toBe(isClaimed && death.at === 'finish' ? 2 : 1);
      await say(QUESTION);
      expect((await scene.owed()).at(-1)).toBe('the code is 4711');
      expect((await scene.store.transcript.oldestAfter(place, 0, 99)).slice(0, 12)).toEqual(before);
    },
  );

  it('[G11] [G16] a slow worker does not overwrite another worker’s summary', async () => {
    const { otherWorker, scene, summaries } = await sixTurns();
    const asleep = Promise.withResolvers<void>();
    const woken = Promise.withResolvers<void>();
    const sleeper = otherWorker({
      beforeCompact: async () => {
        asleep.resolve();
        await woken.promise;
      },
    });
    const slow = sleeper.now(order, never);
    await asleep.promise;
    scene.later(LATER);
    const other = await otherWorker().now(order, never);
    const kept = await scene.store.summaries.latest({ ...place, reader: 'owner' });
    woken.resolve();
    expect([other.kind, (await slow).kind]).toEqual(['done', 'busy']);
    expect(await scene.store.summaries.latest({ ...place, reader: 'owner' })).toEqual(kept);
    expect(summaries).toHaveLength(2);
  });

  it('[G11] [G16] after a crash between the summary and the commit of /compact, the next run reports the actual state', async () => {
    const { scene, summaries } = await sixTurns();
    await scene.write('/compact');
    const { turn, lease } = await scene.begin();
    const { commit } = scene.store.lanes;
    const lanes: { commit: typeof commit } = scene.store.lanes;
    lanes.commit = async () => {
      throw new Error('killed');
    };
    await expect(scene.run({ turn, lease })).rejects.toThrow('killed');
    lanes.commit = commit;
    await scene.store.lanes.release(lease);
    await scene.answerNext();
    expect((await scene.owed()).at(-1)).toMatch(/^⚙️ The older part .* is already summarized/);
    expect(summaries).toHaveLength(1);
  });
});
