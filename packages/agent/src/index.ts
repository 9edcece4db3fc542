export { formatQuestion } from './approvals/approval-gate.ts';
export { formatArguments } from './approvals/shown-arguments.ts';
export { bootSource, createBootstrapSource } from './context/boot-sources.ts';
export { createCompactor } from './context/compactor.ts';
export type { HistoryLimits } from './context/history.ts';
export { assembleHistory } from './context/history.ts';
export { readHistory } from './context/summary.ts';
export { createYesterdaySource } from './context/yesterday-source.ts';
export {
  createHeartbeatRunner,
  createNewsChecker,
} from './heartbeat/heartbeat-runner.ts';
export { proposeTasks } from './heartbeat/propose-tasks.ts';
export type { TurnLimits } from './loop/turn-limits.ts';
export { type AgentMcp, NO_MCP, openMcp } from './mcp/open-mcp.ts';
export { openMedia } from './media/read-attachment.ts';
export {
  createMemoryCommands,
  type MemoryCommands,
} from './memory/memory-commands.ts';
export { createMemoryKeeper, MemoryService } from './memory/memory-service.ts';
export {
  createMemoryHook,
  createMemorySource,
} from './memory/memory-source.ts';
export { postNotice } from './post-message.ts';
export { createSoulCommand, notifyOfSoul } from './soul/soul-messages.ts';
export type { OpenScenarioServices, ScenarioServices } from './soul/soul-scenarios.ts';
export { type SoulCommandResult, SoulService } from './soul/soul-service.ts';
export {
  describeAuthor,
  describeSoulStatus,
  diffSouls,
  formatLocalMoment,
  formatScore,
  formatVersionName,
} from './soul/soul-text.ts';
export { createSpendGuard, type SpendGuard, type SpendScope } from './spend.ts';
export { createSubAgentRunner } from './sub-agents/sub-agent-runner.ts';
export {
  createLocalTime,
  type LocalTime,
  runWithTimeLimit,
  TimeUpError,
} from './time.ts';
export {
  BUILT_IN_TOOLS,
  type BuiltInToolDeps,
  createBuiltInTools,
} from './tools/built-in-tools.ts';
export { createSandboxSource } from './tools/exec.ts';
export { createSkillsSource } from './tools/skills.ts';
export { createTodosSource } from './tools/todos.ts';
export {
  defineTool,
  type Tool,
  type ToolCall,
  type ToolOutcome,
  ToolOutcomeShape,
} from './tools/tool.ts';
export {
  type AddedTools,
  createToolRegistry,
  type ToolProblem,
  type ToolRegistry,
} from './tools/tool-registry.ts';
export type { TurnServices } from './turn/means.ts';
export { type PreviewChange, type PreviewServices, previewTurn } from './turn/preview-turn.ts';
export { addTracing, createTurnRunner } from './turn/run-turn.ts';
export {
  createAgentRunner,
  createUnknownAgentNotice,
} from './turn/several-agents.ts';
export type { AgentProfile } from './turn/turn.ts';
export {
  type TurnAdditions,
  TurnAdditionsShape,
  type TurnClosing,
  type TurnHook,
} from './turn/turn-hooks.ts';
