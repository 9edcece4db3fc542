import type { TodoRepository } from '@parley/store';
import {
  createPromptFiles,
  type MemorySearch,
  type PromptFiles,
  type Skills,
} from '@parley/workspace';
import type { MemoryKeeper } from '../memory/memory-keeper.ts';
import { delegateTaskTool } from '../sub-agents/delegate-task.ts';
import { type ExecDeps, execTool } from './exec.ts';
import { saveMemoryTool, searchMemoryTool } from './memory-tools.ts';
import { messageTool } from './message.ts';
import { proposeSoulChangeTool } from './propose-soul-change.ts';
import { grepTool, listTool, readTool } from './read-files.ts';
import { loadSkillTool } from './skills.ts';
import { cronTool, currentTimeTool } from './time-tools.ts';
import { writeTodosTool } from './todos.ts';
import type { Tool } from './tool.ts';
import { type WebSettings, webTools } from './web-tools.ts';
import { editTool, writeTool } from './write-files.ts';

/** What the built-in tools work with; without skills there is no `load_skill`. */
export interface BuiltInToolDeps {
  /** What `write` and `edit` ask about; every file when absent. */
  readonly promptFiles?: PromptFiles;
  readonly skills?: Pick<Skills, 'read'>;
  /** Absent where memory is switched off. */
  readonly memory?: { readonly keeper: MemoryKeeper; readonly search: MemorySearch };
  /** Without it there are no lists. */
  readonly todos?: Pick<TodoRepository, 'replace' | 'of'>;
  /** Without it nothing can be handed on. */
  readonly delegation?: Parameters<typeof delegateTaskTool>[0];
  /** Without it nothing is done at a time to come. */
  readonly cron?: Parameters<typeof cronTool>[0];
  /** Without it nothing is written to other chats. */
  readonly messages?: Parameters<typeof messageTool>[0];
  /** Without it nobody proposes what SOUL.md should say. */
  readonly soul?: Parameters<typeof proposeSoulChangeTool>[0];
  /** Absent where commands are switched off, which they are by default. */
  readonly exec?: ExecDeps;
  /** What may be read on the web; nothing when absent. */
  readonly web?: WebSettings;
}

/** The tools that Parley brings (G02), in the order in which the model is told of them. */
export function builtInTools({
  promptFiles = createPromptFiles(['/']),
  skills,
  memory,
  delegation,
  cron,
  messages,
  todos,
  soul,
  exec,
  web,
}: BuiltInToolDeps): readonly Tool[] {
  return [
    readTool,
    listTool,
    grepTool,
    writeTool(promptFiles),
    editTool(promptFiles),
    ...(skills === undefined ? [] : [loadSkillTool(skills)]),
    ...(memory === undefined
      ? []
      : [saveMemoryTool(memory.keeper), searchMemoryTool(memory.search)]),
    ...(todos === undefined ? [] : [writeTodosTool(todos)]),
    ...(delegation === undefined ? [] : [delegateTaskTool(delegation)]),
    ...(cron === undefined ? [] : [cronTool(cron)]),
    ...(messages === undefined ? [] : [messageTool(messages)]),
    ...(soul === undefined ? [] : [proposeSoulChangeTool(soul)]),
    ...(exec === undefined ? [] : [execTool(exec)]),
    ...(web === undefined ? [] : webTools(web)),
    currentTimeTool,
  ];
}
