import { describeApprovalVerdict, renderNoticeParts } from '@parley/channels';
import {
  type Clock,
  createRefusalError,
  defineChangeOperation,
  defineReadOperation,
  getConversationAgent,
  ParleyError,
  type ReplyRoute,
  type WakeServices,
  wakeIfPossible,
} from '@parley/core';
import type { Scrub } from '@parley/core/telemetry/scrubber';
import type { ApprovalView, DeadLetterWake, Store } from '@parley/store';
import { z } from 'zod';
import { getFirstWords } from './why-operations.ts';

/** A file written by an agent that nobody has released or marked as private yet. */
interface AgentFileSummary {
  /** The path of the file in the workspace. */
  readonly name: string;
  readonly changedAt: number;
  /** The title of the conversation in which the file was written; null if it is unknown. */
  readonly writtenIn: string | null;
  /** The whole file, with invisible characters escaped. */
  readonly shown: string;
  /**
   * The hash of the file. A decision must include it, so that it applies only to the version that
   * the person has seen.
   */
  readonly print: string;
  readonly canOpen: boolean;
}

const FileDecision = {
  name: z.string().min(1).max(1_000),
  print: z.string().max(100),
  decision: z.enum(['open', 'keep']),
};

/**
 * The approval rules and agent-written files of one agent. Each function throws ParleyError on
 * failure.
 */
export interface OperatorApprovals {
  /** Calls that do not need approval according to the settings. */
  readonly rules: {
    list(): readonly string[];
    allow(rule: string): Promise<void>;
    revoke(rule: string): Promise<void>;
  };
  /** Files written by the agent that nobody has released yet (W09). */
  readonly files: {
    list(): Promise<readonly AgentFileSummary[]>;
    settle(
      order: Readonly<Record<'name' | 'print', string>> & { readonly decision: 'open' | 'keep' },
    ): Promise<{ readonly text: string }>;
    /**
     * Returns the change that a pending call would make to a file, as a line diff; null if the call
     * does not change a file.
     */
    diffOf(approval: Pick<ApprovalView, 'shown'>): Promise<string | null>;
  };
}

interface ApprovalOperationDeps extends WakeServices<DeadLetterWake> {
  readonly store: Pick<Store, 'approvals'>;
  readonly clock: Clock;
  readonly scrub: Scrub;
  readonly defaultAgent: string;
  /** Returns the approvals for the named agent, or for the default agent if no name is given. */
  approvals(agent: string | undefined): Promise<OperatorApprovals>;
}

const MAX_LISTED = 1_000;
const Count = z.coerce.number<number | string>().int();
const RUNNING = { running: true } as const;

/** Decisions about tool calls (G05) and about agent-written files (W09). */
export const operations = {
  list: defineReadOperation(
    'List approval requests and their decisions, newest first; pass `next` as `before` to get the next page',
    {
      before: Count.positive().optional(),
      limit: Count.min(1).max(MAX_LISTED).default(30),
    },
    async (needs: ApprovalOperationDeps, { before = null, limit }) => {
      const recent = await needs.store.approvals.recent(limit, before);
      const approvals = recent.map((one) => toApprovalSummary(needs, one));
      const next = approvals.length < limit ? null : (approvals.at(-1)?.seq ?? null);
      return { now: needs.clock(), approvals, next };
    },
  ),
  waiting: defineReadOperation(
    'List pending approval requests in full, oldest first, each with a diff if it would change a file',
    {},
    async (needs: ApprovalOperationDeps) => {
      const waiting = await needs.store.approvals.waiting(needs.clock());
      const approvals = waiting.map(async (one) => {
        const shown = toApprovalSummary(needs, one);
        // The agent may have been removed from the settings since the request.
        const own = await needs.approvals(shown.agent).catch(() => undefined);
        return { ...shown, diff: (await own?.files.diffOf(one)) ?? null };
      });
      return { approvals: await Promise.all(approvals) };
    },
    RUNNING,
  ),
  decide: defineChangeOperation(
    'Decide an approval request; if there are several decisions, on the page or in the chat, the first one counts',
    { code: z.string().max(100), decision: z.enum(['once', 'always', 'refuse']) },
    async (needs: ApprovalOperationDeps, { code, decision }, { caller }) => ({
      text: await decideApproval(needs, code, decision, `console:${caller.person ?? 'owner'}`),
    }),
    RUNNING,
  ),
  rules: defineReadOperation(
    'List the calls that the settings exempt from approval',
    {},
    async ({ approvals }: ApprovalOperationDeps, _, { agent }) => ({
      rules: (await approvals(agent)).rules.list(),
    }),
    RUNNING,
  ),
  'revoke-rule': defineChangeOperation(
    'Revoke an exemption, so that such calls need approval again',
    { rule: z.string().min(1).max(1_000) },
    async ({ approvals }: ApprovalOperationDeps, { rule }, { agent }) => {
      await (await approvals(agent)).rules.revoke(rule);
      return { text: `${rule} needs approval again; this takes effect within a few seconds.` };
    },
    RUNNING,
  ),
  files: defineReadOperation(
    'List the files written by the agent that nobody has released or kept private yet',
    {},
    async ({ approvals }: ApprovalOperationDeps, _, { agent }) => ({
      files: await (await approvals(agent)).files.list(),
    }),
    RUNNING,
  ),
  'settle-file': defineChangeOperation(
    'Release a file written by the agent to everyone, or keep it private',
    FileDecision,
    async ({ approvals }: ApprovalOperationDeps, order, { agent }) =>
      (await approvals(agent)).files.settle(order),
    RUNNING,
  ),
};

function toApprovalSummary({ scrub, defaultAgent }: ApprovalOperationDeps, approval: ApprovalView) {
  const agent = getConversationAgent(approval.conversationId) ?? defaultAgent;
  return { ...approval, agent, text: getFirstWords(approval.text, scrub) };
}

/**
 * Decides an approval request. If several decisions are made, on the page or in the chat, the first
 * one counts; later attempts return that decision.
 */
async function decideApproval(
  needs: ApprovalOperationDeps,
  code: string,
  decision: 'once' | 'always' | 'refuse',
  by: string,
): Promise<string> {
  const { store, clock, approvals } = needs;
  const verdict = decision === 'refuse' ? 'denied' : 'approved';
  let askedAt: ReplyRoute | undefined;
  const decided = { verdict, by } as const;
  const found = await store.approvals.decide(code, decided, clock(), (its, route) => {
    askedAt = route;
    return renderNoticeParts(describeApprovalVerdict(its), route);
  });
  const text = describeApprovalVerdict(found).replaceAll('`', '');
  if (found.kind !== 'decided') throw createRefusalError('not-decided', text);
  const { conversationId, rule } = found.approval;
  await wakeIfPossible(needs, { kind: 'conversation', conversationId });
  if (askedAt !== undefined) await wakeIfPossible(needs, { kind: 'chat', chat: askedAt });
  if (decision !== 'always') return text;
  if (rule === null) throw createRefusalError('no-rule', `${text} ${NO_RULE}`);
  try {
    await (await approvals(getConversationAgent(conversationId))).rules.allow(rule);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    throw createRefusalError('no-rule', `${text} This applies only once: ${error.message}`);
  }
  return `${text} From now on, ${rule} does not need approval.`;
}

const NO_RULE = 'This applies only once, because no rule can match only such calls.';
