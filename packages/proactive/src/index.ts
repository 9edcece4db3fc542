export { createFindTarget, type FindTargetDeps } from './alerts/find-target.ts';
export { tellFailures } from './alerts/tell-failures.ts';
export { createCronDesk } from './cron/cron-desk.ts';
export {
  type CronSchedule,
  type CronScheduleDeps,
  createCronSchedule,
} from './cron/cron-schedule.ts';
export type { CronDeskDeps } from './cron/desk-deps.ts';
export { type JobView, viewOf } from './cron/job-list.ts';
export {
  type HeartbeatDesk,
  type HeartbeatDeskDeps,
  heartbeatDesk,
} from './desk/heartbeat-desk.ts';
export { HeartbeatAnswer, HeartbeatReport } from './desk/heartbeat-report.ts';
export { makeReport } from './desk/make-report.ts';
export type { BeatOutcome } from './heartbeat/beat-once.ts';
export { describeSchedule } from './heartbeat/describe-schedule.ts';
export {
  createHeartbeat,
  type Heartbeat,
  type HeartbeatDeps,
  type HeartbeatStatus,
} from './heartbeat/heartbeat.ts';
export { tokensToday } from './heartbeat/tokens-today.ts';
export { type JudgeBeatsDeps, judgeBeats } from './verdict/judge-beats.ts';
