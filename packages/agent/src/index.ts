export type { HistoryLimits } from './history.ts';
export type { AgentPlace } from './turn-facts.ts';
export { createTurnRunner, type TurnRunnerDeps } from './turn-runner.ts';
