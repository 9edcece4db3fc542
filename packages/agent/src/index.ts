export { formatQuestion as questionText } from './approvals/approval-gate.ts';
export { formatArguments as shownArguments } from './approvals/shown-arguments.ts';
export { bootSource, createBootstrapSource } from './context/boot-sources.ts';
export { createCompactor } from './context/compactor.ts';
export type { HistoryLimits } from './context/history.ts';
export { assembleHistory } from './context/history.ts';
export { readHistory } from './context/summary.ts';
export { createYesterdaySource as yesterdaySource } from './context/yesterday-source.ts';
export {
  createNewsChecker as newsChecker,
  runHeartbeatsWith as withHeartbeats,
} from './heartbeat/heartbeat-runner.ts';
export { proposeTasks } from './heartbeat/propose-tasks.ts';
export type { TurnLimits } from './loop/turn-limits.ts';
export { type AgentMcp, NO_MCP, openMcp } from './mcp/open-mcp.ts';
export { openMedia } from './media/read-attachment.ts';
export {
  createMemoryCommands as memoryCommands,
  type MemoryCommands,
} from './memory/memory-commands.ts';
export { createMemoryKeeper as keepMemories, MemoryService } from './memory/memory-service.ts';
export {
  createMemoryHook as memoryHook,
  createMemorySource as memorySource,
} from './memory/memory-source.ts';
export { postNotice } from './post-message.ts';
export { createSoulCommand as soulCommand, notifyOfSoul } from './soul/soul-messages.ts';
export type { ScenarioServices, SoulTrial } from './soul/soul-scenarios.ts';
export { type SoulAnswer, SoulService } from './soul/soul-service.ts';
export {
  describeAuthor as authorText,
  describeSoulStatus as soulStatus,
  diffSouls as soulDiff,
  formatLocalMoment as localMoment,
  formatScore as scoreText,
  formatVersionName as versionName,
} from './soul/soul-text.ts';
export { createSpendGuard, type SpendGuard, type SpendScope } from './spend.ts';
export { runSubAgentsWith as withSubAgents } from './sub-agents/sub-agent-runner.ts';
export {
  createLocalTime as localTimeIn,
  type LocalTime,
  runWithTimeLimit as withTimeLimit,
  TimeUpError,
} from './time.ts';
export {
  BUILT_IN_TOOLS,
  type BuiltInToolDeps,
  createBuiltInTools as builtInTools,
} from './tools/built-in-tools.ts';
export { createSandboxSource as sandboxSource } from './tools/exec.ts';
export { createSkillsSource as skillsSource } from './tools/skills.ts';
export { createTodosSource as todosSource } from './tools/todos.ts';
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
export { addTraces as withTraces, createTurnRunner } from './turn/run-turn.ts';
export {
  createAgentRunner as runByAgent,
  createUnknownAgentNotice as unknownAgent,
} from './turn/several-agents.ts';
export type { AgentProfile } from './turn/turn.ts';
export {
  type TurnAdditions,
  TurnAdditionsShape,
  type TurnClosing,
  type TurnHook,
} from './turn/turn-hooks.ts';
