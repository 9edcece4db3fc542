export type { HistoryLimits } from './history.ts';
export type { TurnAdditions, TurnClosing, TurnHook, TurnOpening } from './hooks/turn-hook.ts';
export { type LocalTime, localTimeIn } from './local-time.ts';
export { type MediaSettings, openMedia } from './media/open-media.ts';
export type { MediaDeps } from './media/read-attachment.ts';
export { defineTool, type Tool, type ToolCall, type ToolOutcome } from './tools/tool.ts';
export type { AgentPlace } from './turn-facts.ts';
export { createTurnRunner, type TurnRunnerDeps } from './turn-runner.ts';
