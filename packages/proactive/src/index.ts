export { createFindTarget, type FindTargetDeps } from './alerts/find-target.ts';
export { type ReadCron, readCronExpression } from './cron/cron-expression.ts';
export { nextTime } from './cron/next-time.ts';
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
