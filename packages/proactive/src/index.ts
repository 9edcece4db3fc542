export type { FindTargetDeps } from './alerts/find-target.ts';
export {
  type CronSchedule,
  type CronScheduleDeps,
  createCronSchedule,
} from './cron/cron-schedule.ts';
export type { CronDeskDeps } from './cron/desk-deps.ts';
export type { JobView } from './cron/job-list.ts';
export type { HeartbeatDesk, HeartbeatDeskDeps } from './desk/heartbeat-desk.ts';
export { HeartbeatAnswer, HeartbeatReport } from './desk/heartbeat-report.ts';
export type { BeatOutcome } from './heartbeat/beat-once.ts';
export {
  createHeartbeat,
  HEARTBEAT_READS,
  type Heartbeat,
  type HeartbeatDeps,
  type HeartbeatStatus,
} from './heartbeat/heartbeat.ts';
export { tokensToday } from './heartbeat/tokens-today.ts';
export {
  createCronDesk,
  createFindTarget,
  heartbeatDesk,
  judgeBeats,
  makeReport,
  tellFailures,
  viewOf,
} from './on-demand.ts';
export type { JudgeBeatsDeps } from './verdict/judge-beats.ts';
