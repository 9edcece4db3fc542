import type { TodoRepository } from '@parley/store';
import {
  createPromptFiles,
  type MemorySearch,
  type PromptFiles,
  type Skills,
} from '@parley/workspace';
import type { MemoryKeeper } from '../memory/memory-keeper.ts';
import { type CronToolDeps, cronTool } from './cron.ts';
import { currentTimeTool } from './current-time.ts';
import { type DelegateTaskDeps, delegateTaskTool } from './delegate-task.ts';
import { editTool } from './edit.ts';
import { type ExecDeps, execTool } from './exec.ts';
import { grepTool } from './grep.ts';
import { listTool } from './list.ts';
import { loadSkillTool } from './load-skill.ts';
import { type MessageToolDeps, messageTool } from './message.ts';
import { type ProposeSoulDeps, proposeSoulChangeTool } from './propose-soul-change.ts';
import { readTool } from './read.ts';
import { saveMemoryTool } from './save-memory.ts';
import { searchMemoryTool } from './search-memory.ts';
import type { Tool } from './tool.ts';
import { type WebSettings, webTools } from './web-tools.ts';
import { writeTool } from './write.ts';
import { writeTodosTool } from './write-todos.ts';

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
  readonly delegation?: DelegateTaskDeps;
  /** Without it nothing is done at a time to come. */
  readonly cron?: CronToolDeps;
  /** Without it nothing is written to other chats. */
  readonly messages?: MessageToolDeps;
  /** Without it nobody proposes what SOUL.md should say. */
  readonly soul?: ProposeSoulDeps;
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
