export type { HistoryLimits } from './history.ts';
export { type LocalTime, localTimeIn } from './local-time.ts';
export { type MediaSettings, openMedia } from './media/open-media.ts';
export type { MediaDeps } from './media/read-attachment.ts';
export type { AgentPlace } from './turn-facts.ts';
export { createTurnRunner, type TurnRunnerDeps } from './turn-runner.ts';
