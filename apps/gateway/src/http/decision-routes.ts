import { type Clock, type CronAnswer, ParleyError, type ReplyRoute } from '@parley/core';
import type { Scrub } from '@parley/core/telemetry';
import type { WakeDelivery } from '@parley/queue';
import type { ShownApproval, Store } from '@parley/store';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { firstWords } from '../why-operations.ts';
import type { AppEnv } from './access.ts';
import type { Own } from './agent-routes.ts';
import type { ApprovalList, OfAgent, ShownAgentFile, WaitingApprovals } from './api.ts';
import { bodyOf, orRefused, replyWith, uncachedRoutes } from './api-routes.ts';

/** What needs no approval, by the settings. Throws ParleyError, with the settings as they were, where it cannot change. */
export interface ApprovalRules {
  list(): readonly string[];
  allow(rule: string): Promise<void>;
  revoke(rule: string): Promise<void>;
}

const FileOrder = z.object({
  name: z.string().min(1).max(1_000),
  print: z.string().max(100),
  decision: z.enum(['open', 'keep']),
});
type FileOrder = z.infer<typeof FileOrder>;

/** What agents wrote and no person has opened yet (W09). */
export interface AgentFilesPage {
  list(): Promise<readonly ShownAgentFile[]>;
  /** Throws ParleyError where it cannot be done, with the reason for people. */
  settle(order: FileOrder): Promise<{ readonly text: string }>;
  /** How a pending call would change a file, as a diff by lines; null: it changes none. */
  diffOf(approval: Pick<ShownApproval, 'shown'>): Promise<string | null>;
}

/** What the page shows and does besides decisions; absent where nothing runs. */
export interface ApprovalsPage {
  readonly rules: ApprovalRules;
  readonly files: AgentFilesPage;
}

/** Of an agent by its name in routes, absent: of the default one; undefined: there is none of that name any more. */
export type OpenApprovals = (agent?: string) => Promise<ApprovalsPage | undefined>;

interface DecisionDeps {
  readonly store: Pick<Store, 'approvals'>;
  readonly clock: Clock;
  readonly scrub: Scrub;
  /** Whose a conversation is. */
  readonly nameOf: (conversationId: string) => string;
  /** Wakes the conversation whose turn continues. */
  readonly wake: (conversationId: string) => Promise<void>;
  readonly deliver: WakeDelivery;
  readonly page?: OpenApprovals | undefined;
}

const MOST = 1_000;
const ListQuery = z.object({
  before: z.coerce.number().int().positive().optional(),
  limit: z.coerce.number().int().min(1).max(MOST).default(30),
});

const DecisionBody = z.object({ decision: z.enum(['once', 'always', 'refuse']) });
const RuleBody = z.object({ rule: z.string().min(1).max(1_000) });

/** Who decides here: an owner by name, or who has the token; in a chat it is the sender. */
function deciderOf(c: Context<AppEnv>): string {
  return `console:${c.get('caller')?.signIn?.name ?? 'owner'}`;
}

/** Questions about tool calls (G05) and files of agents (W09), below `/api/approvals`. They are private: guard them. */
export function approvalRoutes(deps: DecisionDeps): Hono<AppEnv> {
  const { store, clock, scrub, nameOf, page } = deps;
  const app = uncachedRoutes<AppEnv>();
  const shown = (one: ShownApproval): ShownApproval & OfAgent => ({
    ...one,
    agent: nameOf(one.conversationId),
    text: firstWords(one.text, scrub),
  });
  app.get('/', async (c) => {
    const query = ListQuery.safeParse(c.req.query()).data;
    if (query === undefined) return c.json({ error: 'before or limit is wrong.' }, 400);
    const { before = null, limit } = query;
    const approvals = (await store.approvals.recent(limit, before)).map(shown);
    const next = approvals.length < limit ? null : (approvals.at(-1)?.seq ?? null);
    return c.json({ now: clock(), approvals, next } satisfies ApprovalList);
  });
  app.get('/waiting', async (c) => {
    const waiting = await store.approvals.waiting(clock());
    const approvals = waiting.map(async (one) => {
      const of = await page?.(nameOf(one.conversationId));
      return { ...shown(one), diff: (await of?.files.diffOf(one)) ?? null };
    });
    return c.json({ approvals: await Promise.all(approvals) } satisfies WaitingApprovals);
  });
  if (page !== undefined) {
    addPageRoutes(app, async (c) => {
      const found = await page(c.req.query('agent'));
      if (found === undefined) throw new Error('The agent of this request is gone.');
      return found;
    });
  }
  app.post('/:code', async (c) => {
    const body = await bodyOf(c, DecisionBody);
    if (body === undefined) return nothing(c);
    return replyWith(c, await decide(deps, c.req.param('code'), body.decision, deciderOf(c)));
  });
  return app;
}

type Decision = z.infer<typeof DecisionBody>['decision'];

/** Of several decisions, here and in the chat, the first counts; the others learn what it was. */
async function decide(
  { store, clock, nameOf, wake, deliver, page }: DecisionDeps,
  code: string,
  decision: Decision,
  by: string,
): Promise<CronAnswer> {
  const verdict = decision === 'refuse' ? 'denied' : 'approved';
  // The package is not loaded by commands that do something else.
  const { approvalText, partsOf } = await import('@parley/channels');
  let askedAt: ReplyRoute | undefined;
  const decided = { verdict, by } as const;
  const found = await store.approvals.decide(code, decided, clock(), (its, route) => {
    askedAt = route;
    return partsOf(approvalText(its), route);
  });
  const text = approvalText(found).replaceAll('`', '');
  if (found.kind !== 'decided') return { ok: false, text };
  const { conversationId, rule } = found.approval;
  await wake(conversationId);
  if (askedAt !== undefined) await deliver(askedAt.channel, askedAt.account, askedAt.chatId);
  if (decision !== 'always') return { ok: true, text };
  try {
    const rules = (await page?.(nameOf(conversationId)))?.rules;
    if (rule === null || rules === undefined) return { ok: false, text: `${text} ${NO_RULE}` };
    await rules.allow(rule);
    return { ok: true, text: `${text} ${rule} is not asked about any more.` };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return { ok: false, text: `${text} But only this once: ${error.message}` };
  }
}

const NO_RULE = 'But only this once: no rule allows exactly such calls.';

/** What is allowed for good, and the files of agents. */
function addPageRoutes(app: Hono<AppEnv>, page: Own<Promise<ApprovalsPage>>): void {
  app.get('/rules', async (c) => c.json({ rules: (await page(c)).rules.list() }));
  app.post('/rules/revoke', async (c) => {
    const body = await bodyOf(c, RuleBody);
    if (body === undefined) return nothing(c);
    const { rules } = await page(c);
    const text = `${body.rule} is asked about again; it counts within a few seconds.`;
    const revoke = async () => {
      await rules.revoke(body.rule);
      return { text };
    };
    return orRefused(c, revoke());
  });
  app.get('/files', async (c) => c.json({ files: await (await page(c)).files.list() }));
  app.post('/files', async (c) => {
    const order = await bodyOf(c, FileOrder);
    return order === undefined ? nothing(c) : orRefused(c, (await page(c)).files.settle(order));
  });
}

function nothing(c: Context): Response {
  return c.json({ error: 'There is nothing like that to do.' }, 400);
}
