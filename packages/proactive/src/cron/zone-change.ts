import { getConversationAgent, pluralize, toLiteralMarkdown } from '@parley/core';
import type { CronJob } from '@parley/store';
import { createZoneClock } from '../zone-clock.ts';
import { formatStoredWallTime, moveToZone, type ZonedTimetable } from './calendar.ts';
import { type CronServices, describeTimetable, type OwnerQuestion } from './job-view.ts';
import { findNextTime, isEveryHour } from './timetable.ts';

const DAY_MS = 24 * 60 * 60_000;
/** The maximum number of jobs named in a question; the remaining jobs are only counted. */
const MAX_NAMED = 8;

/** A job with local times, and their time zone. */
interface ZonedJob {
  readonly job: CronJob;
  readonly timetable: ZonedTimetable & { readonly timeZone: string };
}

/**
 * Compares the zones of jobs with that of their agent, once per start and per reload of the
 * settings. If the agent's zone has changed, an owner is asked once whether the jobs created in the
 * old zone move with it; without an answer they keep it. The question is recorded in the jobs, so
 * that neither a restart nor another process asks again.
 */
export async function compareZones(deps: CronServices, jobs: readonly CronJob[]): Promise<void> {
  const left = new Map<string, ZonedJob[]>();
  for (const job of jobs) {
    if (job.state === 'over') continue;
    const zoned = await toZonedJob(deps, job);
    if (zoned === null) continue;
    const { timeZone, zoneOf, askedAbout } = zoned.timetable;
    const agent = getConversationAgent(job.conversationId);
    const now = deps.timeZoneOf(agent);
    if (timeZone === now) {
      await recordAgentZone(deps, zoned);
    } else if (zoneOf === 'agent' && askedAbout !== now) {
      const key = JSON.stringify([agent ?? null, timeZone]);
      left.set(key, [...(left.get(key) ?? []), zoned]);
    }
  }
  for (const group of left.values()) await askAboutZone(deps, group);
}

/**
 * A job with a zone for its local times. An older version stored intervals of days as hours,
 * without a zone; this function converts them.
 */
async function toZonedJob(deps: CronServices, job: CronJob): Promise<ZonedJob | null> {
  const { timetable } = job;
  if (timetable.kind !== 'every') {
    const { timeZone } = timetable;
    return timeZone === undefined ? null : { job, timetable: { ...timetable, timeZone } };
  }
  const { ms, from, passes } = timetable;
  if (passes === true || ms % DAY_MS !== 0) return null;
  const timeZone = deps.timeZoneOf(getConversationAgent(job.conversationId));
  const started = formatStoredWallTime(createZoneClock(timeZone).wallAt(job.nextAt ?? from));
  const calendar = {
    ...({ kind: 'calendar', unit: 'day', count: ms / DAY_MS, from: started } as const),
    ...({ timeZone, zoneOf: 'agent' } as const),
  };
  await deps.store.cronJobs.change(job.id, { timetable: calendar });
  return { job: { ...job, timetable: calendar }, timetable: calendar };
}

/**
 * Marks a job from an older version as following its agent's zone, if that is its zone. A job whose
 * zone was chosen explicitly keeps its zone.
 */
async function recordAgentZone(
  { store }: CronServices,
  { job, timetable }: ZonedJob,
): Promise<void> {
  const { zoneOf, askedAbout: _, ...rest } = timetable;
  if (zoneOf === 'job' || (zoneOf === 'agent' && timetable.askedAbout === undefined)) return;
  await store.cronJobs.change(job.id, { timetable: { ...rest, zoneOf: 'agent' } });
}

async function askAboutZone(deps: CronServices, group: readonly ZonedJob[]): Promise<void> {
  const [first] = group;
  if (first === undefined || deps.askOwner === undefined) return;
  const agent = getConversationAgent(first.job.conversationId);
  const change = { from: first.timetable.timeZone, to: deps.timeZoneOf(agent) };
  // The question is sent before the jobs are marked. After a crash between the two, the question is
  // sent again and deduplicated by its key.
  const isAsked = await deps.askOwner({
    agent,
    ...createZoneQuestion(group, change, deps.clock()),
  });
  deps.log.info({ ...change, jobs: group.length, isAsked }, "an agent's time zone has changed");
  if (!isAsked) return;
  for (const { job, timetable } of group) {
    await deps.store.cronJobs.change(job.id, {
      timetable: { ...timetable, askedAbout: change.to },
    });
  }
}

function createZoneQuestion(
  group: readonly ZonedJob[],
  { from, to }: { readonly from: string; readonly to: string },
  now: number,
): Omit<OwnerQuestion, 'agent'> {
  const named = group
    .slice(0, MAX_NAMED)
    .map(
      ({ job }) =>
        `- ${toLiteralMarkdown(job.title)} (${job.id}): ${toLiteralMarkdown(describeTimetable(job.timetable, from))}`,
    );
  const more = group.length - named.length;
  const isOne = group.length === 1;
  const [jobs, verb, them] = isOne
    ? ['One job', 'was', 'it']
    : [pluralize(group.length, 'job'), 'were', 'them'];
  const markdown = [
    `My time zone is now ${to}; it was ${from}. ${jobs} ${verb} made in ${from}:`,
    [...named, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n'),
    `\`/zone move\` keeps the local time of ${them}, now in ${to}; \`/zone keep\` leaves ${them} in ${from}. Without an answer nothing changes.`,
  ].join('\n\n');
  // The key includes the day, because a zone may be changed, changed back, and changed again in the
  // same way.
  const key = `zone:${group.map(({ job }) => job.id).join()}:${from}:${to}:${Math.floor(now / DAY_MS)}`;
  const buttons = [
    { label: 'Move', data: `/zone move ${to}` },
    { label: 'Keep', data: `/zone keep ${to}` },
  ];
  return { key, markdown, buttons };
}

/**
 * Runs the `/zone` command. `argument` is `move` or `keep`, followed by the zone named in the
 * question if its button was pressed.
 */
export async function handleZoneCommand(
  deps: CronServices,
  agent: string | undefined,
  argument: string,
): Promise<string> {
  const now = deps.timeZoneOf(agent);
  const open = await listUndecidedJobs(deps, agent, now);
  const [, action, asked] = /^(move|keep)\b[.!]?(?:\s+(\S+))?$/i.exec(argument.trim()) ?? [];
  if (open.length === 0)
    return `My time zone is ${now}. No jobs are waiting for a decision about it.`;
  if (action === undefined) {
    return `My time zone is ${now}. ${pluralize(open.length, 'job')} from another time zone: \`/zone move\` keeps the local time, now in ${now}, and \`/zone keep\` keeps the old zone.`;
  }
  if (asked !== undefined && asked !== now) {
    return `My time zone is now ${now}, not ${asked}. Use \`/zone move\` or \`/zone keep\` to decide about ${now}.`;
  }
  const isMove = action.toLowerCase() === 'move';
  for (const zoned of open) await (isMove ? moveJob(deps, zoned, now) : keepJobZone(deps, zoned));
  deps.log.info({ jobs: open.length, isMove, zone: now }, 'the owner decided about a time zone');
  await deps.planned();
  const jobs = open.length === 1 ? 'One job keeps' : `${open.length} jobs keep`;
  return isMove
    ? `${jobs} ${open.length === 1 ? 'its' : 'their'} local time, now in ${now}.`
    : `${jobs} the old time zone.`;
}

/**
 * Returns the jobs created in the agent's earlier time zone for which no decision has been made.
 */
async function listUndecidedJobs(
  { store }: CronServices,
  agent: string | undefined,
  now: string,
): Promise<readonly ZonedJob[]> {
  const jobs = await store.cronJobs.list();
  return jobs.flatMap((job) => {
    const { timetable, state, conversationId } = job;
    if (state === 'over' || getConversationAgent(conversationId) !== agent) return [];
    if (timetable.kind === 'every') return [];
    const { timeZone, zoneOf } = timetable;
    if (timeZone === undefined || timeZone === now || zoneOf !== 'agent') return [];
    return [{ job, timetable: { ...timetable, timeZone } }];
  });
}

async function moveJob({ store, clock }: CronServices, zoned: ZonedJob, zone: string) {
  const { job, timetable: before } = zoned;
  const { askedAbout: _, ...old } = before;
  const timetable = moveToZone(old, zone);
  await store.cronJobs.change(job.id, { timetable });
  const nextAt = computeNextAfterMove(zoned, timetable, clock());
  if (nextAt !== null) await store.cronJobs.postpone(job, nextAt);
}

/** A local time that has already run in the old zone does not run again in the new one. */
function computeNextAfterMove(
  { job, timetable: before }: ZonedJob,
  timetable: ZonedTimetable,
  now: number,
): number | null {
  if (timetable.kind === 'once') return timetable.at;
  const { lastAt } = job;
  if (lastAt === null || timetable.timeZone === undefined || isEveryHour(timetable)) {
    return findNextTime(timetable, now);
  }
  const lastWall = createZoneClock(before.timeZone).wallAt(lastAt);
  return findNextTime(
    timetable,
    Math.max(now, createZoneClock(timetable.timeZone).firstMomentOf(lastWall)),
  );
}

async function keepJobZone({ store }: CronServices, { job, timetable }: ZonedJob): Promise<void> {
  const { askedAbout: _, ...kept } = timetable;
  await store.cronJobs.change(job.id, { timetable: { ...kept, zoneOf: 'job' } });
}
