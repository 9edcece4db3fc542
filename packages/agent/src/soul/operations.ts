import {
  createRefusalError,
  defineChangeOperation,
  defineReadOperation,
  type NewId,
} from '@parley/core';
import type { SoulVersion } from '@parley/store';
import { z } from 'zod';
import type { LocalTime } from '../time.ts';
import type { SoulCommandResult, SoulService } from './soul-service.ts';
import {
  describeAuthor,
  describeSoulStatus,
  formatLocalMoment,
  formatScore,
  formatVersionName,
} from './soul-text.ts';

interface SoulOperationDeps {
  readonly newId: NewId;
  /** Returns SOUL.md of the agent with that name, or of the default agent (W06). */
  soul(agent: string | undefined): Promise<OperatorSoul>;
}

export interface OperatorSoul {
  readonly service: SoulService;
  readonly localTime: LocalTime;
}

const Numbered = { number: z.coerce.number<number | string>().int().nonnegative() };

export const operations = {
  list: defineReadOperation(
    'All versions of SOUL.md, newest first, each with the possible decisions',
    {},
    async ({ soul }: SoulOperationDeps, _, { agent }) => {
      const own = await soul(agent);
      await own.service.syncFromDisk();
      const [versions, frozen] = [await own.service.list(), await readFrozenState(own)];
      return { versions: versions.map((version) => toSoulVersionView(version, frozen, own)) };
    },
  ),
  show: defineReadOperation(
    'One version of SOUL.md',
    Numbered,
    async (needs: SoulOperationDeps, { number }, { agent }) => {
      const own = await needs.soul(agent);
      const version = await own.service.get(number);
      if (version === null)
        throw createRefusalError('no-version', `There is no version ${number}.`);
      return toSoulVersionView(version, await readFrozenState(own), own);
    },
  ),
  apply: defineDecision('Apply a proposal that passed the evaluation', (soul, number, by) =>
    soul.apply(number, by),
  ),
  veto: defineDecision('Veto a proposal', (soul, number, by) => soul.veto(number, by)),
  rollback: defineDecision(
    'Restore an earlier version as a new version',
    (soul, number, by, askedBy) => soul.rollback(number, by, askedBy),
  ),
  propose: defineChangeOperation(
    'Propose another text',
    { text: z.string(), reason: z.string() },
    async ({ soul, newId }: SoulOperationDeps, proposal, { agent, caller: { name: by } }) => {
      const own = await soul(agent);
      const asked = { ...proposal, by, askedBy: newId('order'), author: 'person' } as const;
      return toDecisionView(own, await own.service.propose(asked));
    },
  ),
};

function defineDecision(
  summary: string,
  decide: (
    soul: SoulService,
    number: number,
    by: string,
    askedBy: string,
  ) => Promise<SoulCommandResult>,
) {
  return defineChangeOperation(
    summary,
    Numbered,
    async ({ soul, newId }: SoulOperationDeps, { number }, { agent, caller }) => {
      const own = await soul(agent);
      return toDecisionView(own, await decide(own.service, number, caller.name, newId('order')));
    },
  );
}

async function toDecisionView(soul: OperatorSoul, answer: SoulCommandResult) {
  if (answer.kind === 'refused')
    throw createRefusalError('soul-refused', answer.reason.replaceAll('`', ''));
  return toSoulVersionView(answer.version, await readFrozenState(soul), soul);
}

/** Whether the settings freeze SOUL.md completely, or for changes by people. */
interface FrozenState {
  readonly all: boolean;
  readonly toPeople: boolean;
}

async function readFrozenState({ service }: OperatorSoul): Promise<FrozenState> {
  return { all: service.settings.apply === 'never', toPeople: await service.isOnlyAgents() };
}

/**
 * A version or proposal, as displayed. The text of a version comes from people and models and is
 * not trusted.
 */
function toSoulVersionView(version: SoulVersion, frozen: FrozenState, { localTime }: OperatorSoul) {
  const { number, reason, state, findings, diff, text, createdAt, basedOn, author } = version;
  return {
    ...{ number, reason, state, findings, diff, text, createdAt },
    /** The name of the version, such as `v0-seed` or `v3`. */
    name: formatVersionName(version),
    origin: describeAuthor(version),
    status: describeSoulStatus(version, localTime),
    score: formatScore(version),
    /** `createdAt` in the agent's local time. */
    made: formatLocalMoment(createdAt, localTime),
    /** The version that `diff` compares with; null for the first version. */
    basedOn,
    can: listActions(version, frozen.all || (frozen.toPeople && author === 'person')),
  };
}

/** The decisions that an owner can make about a version. */
type SoulAction = 'apply' | 'veto' | 'rollback';

function listActions({ state, appliedAt }: SoulVersion, isFrozen: boolean): readonly SoulAction[] {
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
