import { raw } from './kysely.ts';

// States are written into the query text where a partial index is meant to serve it: with a
// parameter in its place neither database can know that the index covers the rows asked for.

/** Messages that no turn has taken yet; served by `inbox_waiting`. */
export const WAITING = raw.lit<'waiting'>('waiting');

/** Messages of owners in direct chats; served by `inbox_owner`. */
export const FROM_OWNER = raw.lit<1>(1);

/** Turns, sub-agents and heartbeats that are not over; served by `turn_running` and the like. */
export const RUNNING = raw.lit<'running'>('running');

/** Questions that nobody has decided; served by `approval_open` and `approval_due`. */
export const OPEN_APPROVAL = raw.lit<'pending'>('pending');

/** Alerts that wait for the end of quiet hours; served by `beat_held`. */
export const HELD_ALERT = raw.lit<'held'>('held');

/** Jobs that come again; served by `cron_job_due`. */
export const ON_JOB = raw.lit<'on'>('on');

/** The version of SOUL.md that counts; served by `soul_applied`. */
export const IN_USE = raw.lit<'applied'>('applied');

/** Parts that did not arrive, or perhaps not; served by `outbox_undelivered`. */
export const UNDELIVERED = [raw.lit<'failed'>('failed'), raw.lit<'unknown'>('unknown')] as const;

/** Parts that are not finished; served by `outbox_unfinished`. */
export const UNFINISHED = [raw.lit<'pending'>('pending'), raw.lit<'sending'>('sending')] as const;

/** What the lane of an agent's heartbeat is called; no chat ever has such a name. */
export const HEARTBEAT_LANE = 'beat:';

/** What a sub-agent's lane is called; no chat ever has such a name, since theirs begin with a channel. */
export const SUB_AGENT_LANE = 'sub:';
