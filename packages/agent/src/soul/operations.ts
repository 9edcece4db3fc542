import { change, type NewId, read, refusal } from '@parley/core';
import type { SoulVersion } from '@parley/store';
import { z } from 'zod';
import type { LocalTime } from '../time.ts';
import type { SoulAnswer, SoulService } from './soul-service.ts';
import { authorText, localMoment, scoreText, soulStatus, versionName } from './soul-text.ts';

interface SoulNeeds {
  readonly newId: NewId;
  /** SOUL.md of the agent with that name, or of the default agent (W06). */
  soul(agent: string | undefined): Promise<OperatorSoul>;
}

export interface OperatorSoul {
  readonly service: SoulService;
  readonly localTime: LocalTime;
}

const Numbered = { number: z.coerce.number<number | string>().int().nonnegative() };

export const operations = {
  list: read(
    'All versions of SOUL.md, newest first, each with what can be done with it',
    {},
    async ({ soul }: SoulNeeds, _, { agent }) => {
      const own = await soul(agent);
      await own.service.syncFromDisk();
      const [versions, frozen] = [await own.service.list(), await frozenIn(own)];
      return { versions: versions.map((version) => shownVersion(version, frozen, own)) };
    },
  ),
  show: read(
    'One version of SOUL.md',
    Numbered,
    async (needs: SoulNeeds, { number }, { agent }) => {
      const own = await needs.soul(agent);
      const version = await own.service.get(number);
      if (version === null) throw refusal('no-version', `There is no version ${number}.`);
      return shownVersion(version, await frozenIn(own), own);
    },
  ),
  apply: decision('Put a proposal that has passed into use now', (soul, number, by) =>
    soul.apply(number, by),
  ),
  veto: decision('Say no to a proposal', (soul, number, by) => soul.veto(number, by)),
  rollback: decision(
    'Go back to a version that was in use; that makes a new one',
    (soul, number, by, askedBy) => soul.rollback(number, by, askedBy),
  ),
  propose: change(
    'Propose another text',
    { text: z.string(), reason: z.string() },
    async ({ soul, newId }: SoulNeeds, proposal, { agent, caller: { name: by } }) => {
      const own = await soul(agent);
      const asked = { ...proposal, by, askedBy: newId('order'), author: 'person' } as const;
      return shownDecision(own, await own.service.propose(asked));
    },
  ),
};

function decision(
  summary: string,
  decide: (soul: SoulService, number: number, by: string, askedBy: string) => Promise<SoulAnswer>,
) {
  return change(
    summary,
    Numbered,
    async ({ soul, newId }: SoulNeeds, { number }, { agent, caller }) => {
      const own = await soul(agent);
      return shownDecision(own, await decide(own.service, number, caller.name, newId('order')));
    },
  );
}

async function shownDecision(soul: OperatorSoul, answer: SoulAnswer) {
  if (answer.kind === 'refused') throw refusal('soul-refused', answer.reason.replaceAll('`', ''));
  return shownVersion(answer.version, await frozenIn(soul), soul);
}

/** Whether no version can be applied, or only versions by the agent. */
interface Frozen {
  readonly all: boolean;
  readonly toPeople: boolean;
}

async function frozenIn({ service }: OperatorSoul): Promise<Frozen> {
  return { all: service.settings.apply === 'never', toPeople: await service.isOnlyAgents() };
}

/** A version or proposal, for display. Its texts were written by people and models. */
function shownVersion(version: SoulVersion, frozen: Frozen, { localTime }: OperatorSoul) {
  const { number, reason, state, findings, diff, text, createdAt, basedOn, author } = version;
  return {
    ...{ number, reason, state, findings, diff, text, createdAt },
    /** The name, such as `v0-seed` or `v3`. */
    name: versionName(version),
    origin: authorText(version),
    /** The state, described in a few words. */
    status: soulStatus(version, localTime),
    score: scoreText(version),
    /** `createdAt` in the agent's local time. */
    made: localMoment(createdAt, localTime),
    /** The version that `diff` compares with; null for the first version. */
    basedOn,
    can: actionsOn(version, frozen.all || (frozen.toPeople && author === 'person')),
  };
}

/** The decisions that an owner can make about a version. */
type SoulAction = 'apply' | 'veto' | 'rollback';

function actionsOn({ state, appliedAt }: SoulVersion, isFrozen: boolean): readonly SoulAction[] {
  switch (state) {
    case 'proposed':
      return ['veto'];
    case 'passed':
      return isFrozen ? ['veto'] : ['apply', 'veto'];
    case 'replaced':
      return appliedAt === null ? [] : ['rollback'];
    default:
      return [];
  }
}
