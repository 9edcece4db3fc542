export type { FindTargetDeps } from './alerts.ts';
export type { JobView } from './cron/job-view.ts';
export {
  type CronSchedule,
  type CronScheduleDeps,
  createCronSchedule,
} from './cron/schedule.ts';
export type { CronServiceDeps } from './cron/service.ts';
export { tokensToday } from './heartbeat/budget.ts';
export { createHeartbeat, type Heartbeat } from './heartbeat/heartbeat.ts';
export { HeartbeatAnswer, HeartbeatReport } from './heartbeat/report-shape.ts';
export type { BeatOutcome, HeartbeatDeps, HeartbeatStatus } from './heartbeat/run.ts';
export type { HeartbeatService, HeartbeatServiceDeps } from './heartbeat/service.ts';
export { HEARTBEAT_READS } from './heartbeat/task.ts';
export type { JudgeDeps } from './heartbeat/verdict.ts';
export {
  createCronService,
  createFindTarget,
  createHeartbeatService,
  createJudge,
  makeReport,
  tellFailures,
  viewOf,
} from './on-demand.ts';
