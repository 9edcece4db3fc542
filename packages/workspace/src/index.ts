export { isOwnersByDefault, type ReaderFacts, readerOf } from './audience.ts';
export { type Bootstrap, type BootstrapMark, decideBootstrap } from './bootstrap.ts';
export {
  Memories,
  profileOf,
  type Removal,
  type SavedMemory,
  type SaveResult,
} from './memory/memories.ts';
export {
  type MemoryEntry,
  MemoryScope,
  MemoryType,
  memoryId,
  memoryLine,
  SAVED_FILES,
} from './memory/memory-file.ts';
export {
  isOver,
  type MemoryHit,
  type MemorySearch,
  openMemorySearch,
} from './memory/memory-search.ts';
export {
  type MemoryChange,
  type MemoryVersions,
  VERSIONS_FOLDER,
} from './memory/memory-versions.ts';
export {
  DEFAULT_WORKSPACE_LIMITS,
  type OpenWorkspaceOptions,
  openWorkspace,
  type Workspace,
  type WorkspaceLimits,
} from './open-workspace.ts';
export {
  createPromptFiles,
  type DeclaredReads,
  type FilePattern,
  type PromptFiles,
  patternsInside,
  restrictView,
} from './prompt-files.ts';
export { CLOSED_TO_COMMANDS, type ShellCommands } from './shell-commands.ts';
export {
  type AbsentSkill,
  SkillSnapshot,
  type SkillStatus,
  type SkillText,
} from './skills/catalogue.ts';
export {
  type SkillFolder,
  type SkillPlaces,
  type SkillSource,
  skillFolders,
} from './skills/find-skills.ts';
export {
  parseSkillCommand,
  type SkillFacts,
  type SkillState,
  type TypedSkillCommand,
} from './skills/resolve-skills.ts';
export {
  type OpenSkillsOptions,
  openSkills,
  type SkillCommand,
  type SkillSettings,
  type Skills,
} from './skills/skills.ts';
export {
  type GovernedFile,
  openSoulFile,
  readSoulScenarios,
  SOUL,
  type SoulFile,
  type SoulOnDisk,
  type SoulScenario,
  soulText,
  type WriteSoul,
} from './soul.ts';
export {
  type CopyResult,
  copyIntoWorkspace,
  markedCopy,
  readInside,
  type Survey,
  type SurveyedEntry,
  type SurveyedSkill,
  surveyFolder,
} from './survey.ts';
export { type Cut, cutText, estimateTokens, isBlank, quarterTokens } from './text.ts';
export { WorkspaceError, type WorkspaceErrorCode } from './workspace-error.ts';
export type { AbsentFile, WorkspaceEntry, WorkspaceFile, WorkspaceView } from './workspace-view.ts';
export {
  type Hold,
  localLock,
  type WorkspaceLock,
  type WritePlan,
  type WriteResult,
} from './write-file.ts';
