export { questionText } from './approvals/approval-question.ts';
export { shownArguments, writtenOut } from './approvals/shown-arguments.ts';
export { bootSource, createBootstrapSource } from './boot.ts';
export { assembleHistory } from './context/assemble-history.ts';
export type { Compacting } from './context/compact.ts';
export { type Compactor, createCompactor } from './context/compactor.ts';
export type { HistoryLimits } from './context/history-budget.ts';
export { readHistory } from './context/summary.ts';
export { type YesterdaySource, yesterdaySource } from './context/yesterday-source.ts';
export { type NewsChecker, newsChecker } from './heartbeat/check-for-news.ts';
export { withHeartbeats } from './heartbeat/heartbeat-runner.ts';
export type { HeartbeatRunnerDeps } from './heartbeat/heartbeat-turn.ts';
export { type LocalTime, localTimeIn } from './local-time.ts';
export type { TurnLimits } from './loop/turn-loop.ts';
export {
  type AgentMcp,
  type McpLine,
  type McpServerSettings,
  NO_MCP,
  openMcp,
} from './mcp/open-mcp.ts';
export type { MediaDeps } from './media/read-attachment.ts';
export { type MediaSettings, openMedia } from './media/read-attachment.ts';
export {
  type MemoryCommands,
  type MemoryCommandsOptions,
  memoryCommands,
} from './memory/memory-commands.ts';
export { createMemoryKeeper, keepMemories, type MemoryKeeper } from './memory/memory-keeper.ts';
export { memoryHook, memorySource } from './memory/memory-source.ts';
export {
  type NewMessage,
  type PostDeps,
  type PostedMessage,
  postMessage,
} from './post-message.ts';
export type { ScenarioDeps } from './soul/judge-soul.ts';
export { createSoulGuard } from './soul/soul-guard.ts';
export { createSoulKeeper, type SoulKeeper } from './soul/soul-keeper.ts';
export {
  notifyOfSoul,
  type SoulCommand,
  type SoulNoticeDeps,
  soulCommand,
} from './soul/soul-messages.ts';
export type { SoulAnswer } from './soul/soul-orders.ts';
export {
  momentOf,
  nameOf,
  originOf,
  type SoulSettings,
  scoreWords,
  soulDiff,
  standingOf,
} from './soul/soul-text.ts';
export { createSpendGuard, type SpendGuard, type SpendingPlace } from './spend.ts';
export { type SubAgentRunnerDeps, withSubAgents } from './sub-agents/sub-agent-runner.ts';
export { TimeUpError, withTimeLimit } from './time-limit.ts';
export { type BuiltInToolDeps, builtInTools } from './tools/built-in-tools.ts';
export { type SkillsSource, type SkillTurn, skillsSource } from './tools/skills.ts';
export { todosSource } from './tools/todos.ts';
export {
  defineTool,
  type Tool,
  type ToolCall,
  type ToolEffect,
  type ToolOutcome,
} from './tools/tool.ts';
export {
  type AddedTools,
  createToolRegistry,
  type ToolProblem,
  type ToolRegistry,
  type ToolRegistryOptions,
  type ToolSet,
} from './tools/tool-registry.ts';
export type { TurnAdditions, TurnClosing, TurnHook, TurnOpening } from './turn-hooks.ts';
export type { AgentPlace } from './turn-opening.ts';
export { type PreviewChange, type PreviewDeps, previewTurn, turnPrompt } from './turn-prompt.ts';
export {
  createTurnRunner,
  type TurnRunnerDeps,
  withTraces,
} from './turn-runner.ts';
