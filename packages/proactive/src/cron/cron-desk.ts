import { personId } from '@parley/channels';
import type { AskCron, CronAnswer, CronAsker, CronOrder } from '@parley/contracts';
import type { CronJob } from '@parley/store';
import { wallDayAndMinute } from '../clock/wall-words.ts';
import { changeJob } from './change-job.ts';
import { named } from './cron-words.ts';
import { describeTimetable } from './describe-timetable.ts';
import { type CronDeskDeps, refused, rulesNow } from './desk-deps.ts';
import { jobLine, viewOf } from './job-list.ts';
import { type KnownAsker, mayAdd, mayChange, maySee } from './job-rights.ts';
import { newJob } from './new-job.ts';
import { nextTimes } from './read-timetable.ts';

/** So long a job that is over is still there to be looked at. */
const KEEP_OVER_MS = 7 * 24 * 60 * 60_000;
const TIMES_SHOWN = 3;

/** Makes the desk at which chats, the command line and the page ask for jobs (H08). */
export function createCronDesk(deps: CronDeskDeps): AskCron {
  return async (order, asking) => {
    const asker = await known(deps, asking);
    switch (order.action) {
      case 'add':
        return add(deps, order, asker);
      case 'list':
        return list(deps, asker);
      default:
        return withJob(deps, order, asker);
    }
  };
}

async function known({ store, senderNow }: CronDeskDeps, asking: CronAsker): Promise<KnownAsker> {
  if (asking.kind === 'operator') return asking;
  const { message } = asking;
  const found = await senderNow(message);
  const person = personId(message);
  const link = await store.links.of(person);
  const sender = found ?? {
    isOwner: false,
    conversationId: asking.reader.conversationId,
    refusal: null,
  };
  return { ...asking, sender, accounts: link?.members ?? [person] };
}

async function add(
  deps: CronDeskDeps,
  order: Extract<CronOrder, { action: 'add' }>,
  asker: KnownAsker,
): Promise<CronAnswer> {
  const { store, settings, clock, log } = deps;
  if (!mayAdd(asker, settings.who)) return refused(ONLY_OWNERS);
  const before = await store.cronJobs.find(order.askedBy);
  if (before !== null) return added(deps, before);
  await forgetOld(deps);
  const id = await freeCode(deps);
  const sender = await deps.senderNow(order.origin);
  const made = newJob(order, { id, rules: rulesNow(deps), sender });
  if (made.kind === 'problem') return refused(`Not added. ${made.message}`);
  const result = await store.cronJobs.add(made.job, settings, clock());
  if (result === 'full') {
    return refused(
      `Not added: there may be ${settings.perConversation} jobs in one conversation and ${settings.total} in all. Remove one first.`,
    );
  }
  const job = await store.cronJobs.find(order.askedBy);
  if (job === null) return refused('Not added: it was removed at the same moment.');
  log.info(
    { job: job.id, conversation: job.conversationId, nextAt: job.nextAt },
    'a job was added',
  );
  await deps.planned();
  return added(deps, job);
}

const ONLY_OWNERS =
  'Only the people this agent belongs to may have it do things at certain times. The setting cron.who: everyone lets others, too.';

function added({ timeZone, clock }: CronDeskDeps, job: CronJob): CronAnswer {
  const { timetable } = job;
  const zone = timetable.kind === 'cron' ? timetable.timeZone : timeZone;
  const times = nextTimes(timetable, clock(), TIMES_SHOWN);
  const next = times.map((time) => wallDayAndMinute(time, zone)).join(', ');
  const words = `The job ${named(job)} stands: ${describeTimetable(timetable, timeZone)}.`;
  return {
    ok: true,
    words: next === '' ? words : `${words} Next: ${next}, on the clock of ${zone}.`,
  };
}

async function list(deps: CronDeskDeps, asker: KnownAsker): Promise<CronAnswer> {
  const jobs = (await deps.store.cronJobs.list()).filter((job) => maySee(asker, job));
  if (jobs.length === 0) return { ok: true, words: 'There are no jobs.' };
  const lines: string[] = [];
  for (const job of jobs) {
    const view = await viewOf(deps, job);
    const where = asker.kind === 'operator' ? `; in ${view.chat}` : '';
    lines.push(jobLine(view) + where);
  }
  return { ok: true, words: lines.join('\n') };
}

async function withJob(
  deps: CronDeskDeps,
  order: Exclude<CronOrder, { action: 'add' | 'list' }>,
  asker: KnownAsker,
): Promise<CronAnswer> {
  const id = order.id.trim().toUpperCase();
  const job = await deps.store.cronJobs.get(id);
  if (job === null || !maySee(asker, job)) {
    return refused(`There is no job ${JSON.stringify(order.id)}. The list shows which there are.`);
  }
  if (order.action === 'show') {
    return { ok: true, words: `${jobLine(await viewOf(deps, job))}\n\n${job.task}` };
  }
  if (!mayChange(asker, job, deps.settings.who)) {
    return refused(`Only whoever asked for ${named(job)}, or an owner, may change it.`);
  }
  return changeJob(deps, order, job);
}

async function freeCode({ store, newCode }: CronDeskDeps): Promise<string> {
  for (;;) {
    const code = newCode();
    if ((await store.cronJobs.get(code)) === null) return code;
  }
}

/** Jobs that are over are kept for a while, and not for ever. */
async function forgetOld({ store, clock }: CronDeskDeps): Promise<void> {
  for (const { id, state, lastAt, createdAt } of await store.cronJobs.list()) {
    if (state === 'over' && (lastAt ?? createdAt) < clock() - KEEP_OVER_MS) {
      await store.cronJobs.remove(id);
    }
  }
}
