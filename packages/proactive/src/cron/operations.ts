import type { NamedChat } from '@parley/channels';
import {
  type CronRequest,
  createRefusalError,
  defineChangeOperation,
  defineReadOperation,
  type InboundMessage,
  type NewId,
  unwrapAnswer,
} from '@parley/core';
import type { Store } from '@parley/store';
import { z } from 'zod';
import type { FindAlertTarget } from '../alerts.ts';
import type { Cron } from './cron.ts';
import { formatJob } from './job-view.ts';

/** The jobs of all agents, and the chats to which the operator can assign them (H08). */
export interface OperatorCron extends Pick<Cron, 'ask' | 'views'> {
  /** The chats named in the settings. */
  readonly chats: Readonly<Record<string, NamedChat>>;
  readonly serves: (channel: string, account: string) => boolean;
  /**
   * Finds a chat for an agent's job. Throws ParleyError if the settings do not contain such an
   * agent.
   */
  readonly findTarget: (agent: string | undefined) => FindAlertTarget;
  /** Returns the agent that answers such a message; undefined for the default agent. */
  readonly agentAt: (message: InboundMessage) => string | undefined;
}

interface OperatorCronDeps {
  readonly store: Pick<Store, 'conversations'>;
  readonly defaultAgent: string;
  readonly newId: NewId;
  cron(): Promise<OperatorCron>;
}

const Id = z.string().max(100);
const Job = {
  fields: z.partialRecord(
    z.enum(['title', 'task', 'at', 'every', 'cron', 'timeZone', 'format']),
    z.string().optional(),
  ),
  /** The name of a chat in the settings, or a chat id such as `telegram:-100`. */
  to: z.string().optional(),
};

export const operations = {
  list: defineReadOperation(
    'All jobs, and the chats that a job can report to',
    {},
    async (needs: OperatorCronDeps) => {
      const cron = await needs.cron();
      const jobs = (await cron.views()).map(({ agent, ...view }) => {
        const place = agent === undefined ? view.chat : `${view.chat} with ${agent}`;
        const line = `${formatJob({ agent, ...view })}; in ${place}`;
        return { ...view, agent: agent ?? needs.defaultAgent, line };
      });
      return { jobs, chats: await listChatsForJobs(needs.store, cron) };
    },
  ),
  show: defineReadOperation('One job with its whole task', { id: Id }, defineJobChange('show')),
  pause: defineChangeOperation('Pause a job', { id: Id }, defineJobChange('pause')),
  resume: defineChangeOperation('Resume a paused job', { id: Id }, defineJobChange('resume')),
  remove: defineChangeOperation('Remove a job', { id: Id }, defineJobChange('remove')),
  run: defineChangeOperation(
    'Run a job now, even if it is not due',
    { id: Id },
    defineJobChange('run'),
  ),
  add: defineChangeOperation(
    'Add a job, by default for the chat in which the owner wrote last',
    Job,
    async (
      { newId, defaultAgent, ...needs }: OperatorCronDeps,
      { fields, to },
      { agent: named },
    ) => {
      const cron = await needs.cron();
      const { origin, route } = await findJobChat(cron, named, to);
      const agent = named === defaultAgent ? undefined : (named ?? cron.agentAt(origin));
      const askedBy = `command:${newId('order')}`;
      return performCronRequest(cron, { action: 'add', askedBy, origin, route, fields, agent });
    },
  ),
  change: defineChangeOperation(
    'Change the time, task, title or chat of a job; omitted fields stay unchanged',
    { id: Id, ...Job },
    async (needs: OperatorCronDeps, { id, fields, to }) => {
      const cron = await needs.cron();
      if (to === undefined) return performCronRequest(cron, { action: 'change', id, fields });
      const code = id.trim().toUpperCase();
      const job = (await cron.views()).find((view) => view.id === code);
      return performCronRequest(cron, {
        action: 'change',
        id,
        fields,
        target: await findJobChat(cron, job?.agent, to),
      });
    },
  ),
};

function defineJobChange(action: 'show' | 'pause' | 'resume' | 'remove' | 'run') {
  return async ({ cron }: OperatorCronDeps, { id }: { readonly id: string }) =>
    performCronRequest(await cron(), { action, id });
}

async function performCronRequest(cron: OperatorCron, order: CronRequest) {
  return unwrapAnswer('job-refused', await cron.ask(order, { kind: 'operator' }));
}

/**
 * Finds the chat for a job that the operator adds. In a group, the job does not belong to any
 * member.
 */
async function findJobChat(cron: OperatorCron, agent: string | undefined, to = '') {
  const findTarget = cron.findTarget(agent);
  const target = await findTarget({ name: 'cron', ...(to !== '' && { tell: to }) });
  if (target.kind === 'none')
    throw createRefusalError('job-refused', `Not done: ${target.reason}.`);
  const { route, last, isOwners } = target;
  if (isOwners && to !== '' && to !== `${route.channel}:${route.chatId}`) {
    throw createRefusalError('job-refused', `Not done: no group is called ${JSON.stringify(to)}.`);
  }
  const sender = { id: 'operator', name: 'the operator', isBot: false };
  return { route, origin: isOwners ? last : { ...last, sender } };
}

const MAX_CHATS = 50;

/**
 * The chats in which an operator's job can report, besides the owner's chat: chats from the
 * settings, and groups in which a person has written.
 */
async function listChatsForJobs(
  { conversations }: OperatorCronDeps['store'],
  { chats, serves }: OperatorCron,
) {
  const groups = (await conversations.list({ before: null, limit: MAX_CHATS })).filter(
    ({ chatType, channel, account }) =>
      chatType !== 'direct' && account === 'default' && serves(channel, account),
  );
  const names = new Map(Object.keys(chats).map((name) => [name, name]));
  for (const { channel, chatId, title } of groups) names.set(`${channel}:${chatId}`, title);
  return [...names].map(([to, name]) => ({ to, name }));
}
