export { type AlertChat, createFindTarget } from './alerts.ts';
export { type Cron, createCron } from './cron/cron.ts';
export type { CronServices, JobView } from './cron/job-view.ts';
export { Heartbeat, tokensToday } from './heartbeat/heartbeat.ts';
export type { HeartbeatAnswer, HeartbeatReport } from './heartbeat/report-shape.ts';
export { exampleRun } from './heartbeat/run.ts';
export { HEARTBEAT_READS } from './heartbeat/task.ts';
export { createJudge } from './heartbeat/verdict.ts';
export { createHooks, type Hooks, type HookView } from './hooks/hooks.ts';
