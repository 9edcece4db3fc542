import { type CurrentSender, toConversationId, toPersonId } from '@parley/channels';
import {
  type CronAnswer,
  type CronFields,
  type CronRequest,
  type CronRequester,
  getConversationAgent,
  type InboundMessage,
  ResponseFormat,
  reasonOf,
  toAgentConversation,
} from '@parley/core';
import type { CronJob, CronJobChange, NewCronJob } from '@parley/store';
import { formatWallDayAndMinute } from '../zone-clock.ts';
import {
  type CronServices,
  describeTimetable,
  formatJob,
  formatTitleAndId,
  getZone,
  TIMES_SHOWN,
  toJobView,
} from './job-view.ts';
import {
  findNextTime,
  listNextTimes,
  parseTimetableInput,
  type TimetableRules,
} from './timetable.ts';

const KEEP_OVER_MS = 7 * 24 * 60 * 60_000;

/** Handles a request about jobs from a chat, the command line or the web page (H08). */
export async function handleCronRequest(
  deps: CronServices,
  order: CronRequest,
  asking: CronRequester,
): Promise<CronAnswer> {
  const asker = await identifyRequester(deps, asking);
  switch (order.action) {
    case 'add':
      return addCronJob(deps, order, asker);
    case 'list':
      return listJobs(deps, asker);
    default:
      return handleJobRequest(deps, order, asker);
  }
}

async function identifyRequester(
  { store, senderNow }: CronServices,
  asking: CronRequester,
): Promise<KnownRequester> {
  if (asking.kind === 'operator') return asking;
  const { message } = asking;
  const person = toPersonId(message);
  const agent = getConversationAgent(asking.reader.conversationId);
  const isOwner = (await senderNow(message, agent))?.isOwner ?? false;
  return {
    ...asking,
    agent,
    isOwner,
    accounts: (await store.links.of(person))?.members ?? [person],
  };
}

async function addCronJob(
  deps: CronServices,
  order: Extract<CronRequest, { action: 'add' }>,
  asker: KnownRequester,
): Promise<CronAnswer> {
  const { store, settings, clock, log } = deps;
  if (!canAddJob(asker, settings.who)) return refuseCronRequest(ONLY_OWNERS);
  const before = await store.cronJobs.find(order.askedBy);
  if (before !== null) return createAddedAnswer(deps, before);
  await forgetOldJobs(deps);
  const id = await createUnusedJobCode(deps);
  const agent = asker.kind === 'operator' ? order.agent : asker.agent;
  const sender = await deps.senderNow(order.origin, agent);
  const made = createJob(order, id, getCurrentRules(deps, agent), sender ?? { agent });
  if (typeof made === 'string') return refuseCronRequest(`Not added. ${made}`);
  const result = await store.cronJobs.add(made, settings, clock());
  if (result === 'full') {
    return refuseCronRequest(
      `Not added: the limits are ${settings.perConversation} jobs per conversation and per guest, and ${settings.total} in total, the last tenth of which is reserved for owners. Remove one first.`,
    );
  }
  const job = await store.cronJobs.find(order.askedBy);
  if (job === null) return refuseCronRequest('Not added: the job was removed at the same moment.');
  log.info(
    { job: job.id, conversation: job.conversationId, nextAt: job.nextAt },
    'a job was added',
  );
  await deps.planned();
  return createAddedAnswer(deps, job);
}

const ONLY_OWNERS =
  'Only the owners of this agent may schedule jobs. To allow others, set cron.who: everyone.';

function createAddedAnswer({ timeZoneOf, clock }: CronServices, job: CronJob): CronAnswer {
  const { timetable } = job;
  const timeZone = timeZoneOf(getConversationAgent(job.conversationId));
  const zone = getZone(timetable) ?? timeZone;
  const times = listNextTimes(timetable, clock(), TIMES_SHOWN);
  const next = times.map((time) => formatWallDayAndMinute(time, zone)).join(', ');
  const text = `The job ${formatTitleAndId(job)} is set: ${describeTimetable(timetable, timeZone)}.`;
  return {
    ok: true,
    text: next === '' ? text : `${text} Next: ${next} (${zone}).`,
  };
}

async function listJobs(deps: CronServices, asker: KnownRequester): Promise<CronAnswer> {
  const jobs = (await deps.store.cronJobs.list()).filter((job) => canSeeJob(asker, job));
  if (jobs.length === 0) return { ok: true, text: 'There are no jobs.' };
  const views = await Promise.all(jobs.map((job) => toJobView(deps, job)));
  return { ok: true, text: views.map(formatJob).join('\n') };
}

async function handleJobRequest(
  deps: CronServices,
  order: Exclude<CronRequest, { action: 'add' | 'list' }>,
  asker: KnownRequester,
): Promise<CronAnswer> {
  const id = order.id.trim().toUpperCase();
  const job = await deps.store.cronJobs.get(id);
  if (job === null || !canSeeJob(asker, job)) {
    return refuseCronRequest(
      `There is no job ${JSON.stringify(order.id)}. The list shows all jobs.`,
    );
  }
  if (order.action === 'show') {
    return { ok: true, text: `${formatJob(await toJobView(deps, job))}\n\n${job.task}` };
  }
  if (!canChangeJob(asker, job, deps.settings.who)) {
    return refuseCronRequest(
      `Only the person who asked for ${formatTitleAndId(job)}, or an owner, may change it.`,
    );
  }
  return changeJob(deps, order, job);
}

async function createUnusedJobCode({ store, newCode }: CronServices): Promise<string> {
  for (;;) {
    const code = newCode();
    if ((await store.cronJobs.get(code)) === null) return code;
  }
}

async function forgetOldJobs({ store, clock }: CronServices): Promise<void> {
  const over = (await store.cronJobs.list()).filter(({ state }) => state === 'over');
  if (over.length === 0) return;
  const countFrom = Math.min(clock(), (await store.retention.last())?.countedTo ?? 0);
  for (const { id, lastAt, createdAt } of over) {
    if ((lastAt ?? createdAt) < countFrom - KEEP_OVER_MS) await store.cronJobs.remove(id);
  }
}

type JobChangeRequest = Extract<
  CronRequest,
  { action: 'change' | 'remove' | 'pause' | 'resume' | 'run' }
>;

async function changeJob(
  deps: CronServices,
  order: JobChangeRequest,
  job: CronJob,
): Promise<CronAnswer> {
  const { store, log } = deps;
  log.info({ job: job.id, action: order.action }, 'a job was changed');
  if (order.action === 'remove') {
    await store.cronJobs.remove(job.id);
    return { ok: true, text: `The job ${formatTitleAndId(job)} is removed.` };
  }
  const change = await applyJobChange(deps, order, job);
  if (typeof change === 'string') return refuseCronRequest(change);
  const isThere = await store.cronJobs.change(job.id, change);
  const now = isThere ? await store.cronJobs.get(job.id) : null;
  if (now === null)
    return refuseCronRequest(`The job ${formatTitleAndId(job)} was removed in the meantime.`);
  await deps.planned();
  return { ok: true, text: formatJob(await toJobView(deps, now)) };
}

async function applyJobChange(
  deps: CronServices,
  order: Exclude<JobChangeRequest, { action: 'remove' }>,
  job: CronJob,
): Promise<CronJobChange | string> {
  const now = deps.clock();
  switch (order.action) {
    case 'pause':
      return job.state === 'over' ? `${formatTitleAndId(job)} is over.` : { state: 'paused' };
    case 'resume': {
      if (job.state === 'on') return `${formatTitleAndId(job)} is not paused.`;
      const nextAt = findNextTime(job.timetable, now);
      if (nextAt === null) {
        return `The time of ${formatTitleAndId(job)} has passed. Change it to another time, or run it now.`;
      }
      return { state: 'on', nextAt, failures: 0 };
    }
    case 'run':
      if (job.state === 'paused') return `${formatTitleAndId(job)} is paused. Resume it first.`;
      return { state: 'on', nextAt: now };
    case 'change': {
      const agent = getConversationAgent(job.conversationId);
      const fields = parseJobChange(order.fields, getCurrentRules(deps, agent));
      if (typeof fields === 'string') return `Not changed. ${fields}`;
      const format = readFormat(order.fields, job);
      if (typeof format === 'string') return `Not changed. ${format}`;
      const { target } = order;
      const place = target && getJobChat(target, await deps.senderNow(target.origin, agent));
      const { origin = job.origin } = place ?? {};
      const isOrigin = place !== undefined || order.fields.format !== undefined;
      const asked = isOrigin && { origin: setFormat(origin, format) };
      const change: CronJobChange = { ...fields, ...place, ...asked };
      if (Object.keys(change).length === 0) return 'Not changed: say what to change.';
      return change.nextAt === undefined ? change : { ...change, state: 'on' };
    }
  }
}

const MAX_TITLE = 80;
const MAX_TASK = 4_000;

/** Creates a job. Only the chat and sender of the requesting message are stored. */
function createJob(
  { askedBy, origin, route, fields }: Extract<CronRequest, { action: 'add' }>,
  id: string,
  rules: TimetableRules,
  sender: CurrentSender | { readonly agent: string | undefined },
): NewCronJob | string {
  const task = fields.task?.trim() ?? '';
  if (task === '') {
    return 'Say in `task` what to do when the time comes.';
  }
  const read = parseTimetableInput(fields, rules);
  if (typeof read === 'string') return read;
  const format = readFormat(fields);
  if (typeof format === 'string') return format;
  const place = getJobChat({ origin, route }, 'agent' in sender ? null : sender);
  return {
    id,
    askedBy,
    conversationId:
      'agent' in sender
        ? toAgentConversation(sender.agent, toConversationId(origin))
        : sender.conversationId,
    ...place,
    origin: setFormat(place.origin, format),
    title: createJobTitle(fields.title, task),
    task: task.slice(0, MAX_TASK),
    ...read,
  };
}

/** The agent that a job belongs to, and the chat for its answers. */
function getJobChat(
  { origin, route }: Pick<Extract<CronRequest, { action: 'add' }>, 'origin' | 'route'>,
  sender: CurrentSender | null,
): Pick<NewCronJob, 'route' | 'origin' | 'fromOwner'> {
  const { replyToMessageId: _, ...free } = route;
  const fromOwner = sender?.isOwner === true && origin.chat.type === 'direct';
  return { route: free, origin: toOriginMessage(origin), fromOwner };
}

type MessageWithFormat = Pick<InboundMessage, 'responseFormat'>;

/**
 * Parses the JSON format for a job's answers: the given text, or else the format in `before`.
 * Returns an explanation if it is invalid.
 */
function readFormat(
  { format }: Pick<CronFields, 'format'>,
  before?: Pick<CronJob, 'origin'>,
): MessageWithFormat | string {
  const written = format?.trim();
  if (written === undefined) return before?.origin ?? {};
  if (written === '' || written === 'none') return {};
  try {
    const read = ResponseFormat.safeParse(written === 'json' ? written : JSON.parse(written));
    if (read.success) return { responseFormat: read.data };
    return `The format must be ${read.error.issues.map(({ message }) => message).join('; ')}.`;
  } catch (error) {
    return `The format is neither \`json\` nor a JSON Schema: ${reasonOf(error)}.`;
  }
}

/** Stores the format in the message from which the job's runs are created. */
function setFormat(
  { responseFormat: _, ...origin }: InboundMessage,
  { responseFormat }: MessageWithFormat,
): InboundMessage {
  return responseFormat === undefined ? origin : { ...origin, responseFormat };
}

function parseJobChange(fields: CronFields, rules: TimetableRules): CronJobChange | string {
  const isTime = [fields.at, fields.every, fields.cron, fields.timeZone].some(
    (one) => one !== undefined,
  );
  const read = isTime ? parseTimetableInput(fields, rules) : null;
  if (typeof read === 'string') return read;
  const task = fields.task?.trim();
  const title = fields.title?.trim();
  return {
    ...(task && { task: task.slice(0, MAX_TASK) }),
    ...(title && { title: createJobTitle(title, '') }),
    ...(read !== null && { ...read, failures: 0 }),
  };
}

function createJobTitle(title: string | undefined, task: string): string {
  const line = (title?.trim() || task).replace(/\s+/g, ' ');
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1).trimEnd()}…`;
}

function toOriginMessage({ channel, account, messageId, chat, sender, sentAt }: InboundMessage) {
  const base = { channel, account, messageId, chat, sender, sentAt };
  return { ...base, text: '', mentions: [], addressed: true, variables: {} };
}

const MINUTE_MS = 60_000;

function getCurrentRules(
  { timeZoneOf, clock, settings }: CronServices,
  agent: string | undefined,
): TimetableRules {
  return { timeZone: timeZoneOf(agent), now: clock(), leastMs: settings.minMinutes * MINUTE_MS };
}

function refuseCronRequest(text: string): CronAnswer {
  return { ok: false, text };
}

type KnownRequester =
  | { readonly kind: 'operator' }
  | (Extract<CronRequester, { kind: 'chat' }> & {
      readonly agent: string | undefined;
      readonly isOwner: boolean;
      /** The ids of the person's accounts, such as `telegram:42`. */
      readonly accounts: readonly string[];
    });

function canAddJob(asker: KnownRequester, who: CronServices['settings']['who']): boolean {
  return asker.kind === 'operator' || who === 'everyone' || asker.isOwner;
}

/**
 * An agent's jobs are visible in the chats that requested them or receive their answers. In a
 * direct chat, owners see all of their own jobs.
 */
function canSeeJob(asker: KnownRequester, job: CronJob): boolean {
  if (asker.kind === 'operator') return true;
  const { reader, accounts, agent } = asker;
  if (getConversationAgent(job.conversationId) !== agent) return false;
  const here = reader.conversationId;
  const origin = toAgentConversation(agent, toConversationId(job.origin));
  if (job.conversationId === here || origin === here) return true;
  return reader.kind === 'owner' && accounts.includes(toPersonId(job.origin));
}

/** A job may be changed by its requester, and by an owner wherever they can see it. */
function canChangeJob(
  asker: KnownRequester,
  job: CronJob,
  who: CronServices['settings']['who'],
): boolean {
  if (asker.kind === 'operator') return true;
  if (!canSeeJob(asker, job)) return false;
  const isTheirs = who === 'everyone' && asker.accounts.includes(toPersonId(job.origin));
  return asker.isOwner || isTheirs;
}
