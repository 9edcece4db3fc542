export { isGroupFile, isMemory, isOwnersByDefault, readerOf } from './audience.ts';
export { decideBootstrap } from './bootstrap.ts';
export { CLOSED_TO_COMMANDS } from './closed-paths.ts';
export { textOfFile } from './file-text.ts';
export type { WritePlan } from './file-writer.ts';
export { isMarkdown } from './folded-names.ts';
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
  parseMemoryFile,
  SAVED_FILES,
} from './memory/memory-file.ts';
export {
  isOutOfSession,
  type MemoryHit,
  type MemorySearch,
  openMemorySearch,
} from './memory/memory-search.ts';
export { type MemoryVersions, VERSIONS_FOLDER } from './memory/memory-versions.ts';
export { openWorkspace, type Workspace } from './open-workspace.ts';
export { ownersMarks, type SplitText, splitOwnersFile } from './owner-sections.ts';
export { otherFiles } from './paths.ts';
export {
  coversFile,
  createPromptFiles,
  type FilePattern,
  type PromptFiles,
  patternsInside,
  restrictView,
} from './prompt-files.ts';
export {
  type AbsentSkill,
  SkillSnapshot,
  type SkillStatus,
  type SkillText,
} from './skills/catalogue.ts';
export { skillFolders } from './skills/find-skills.ts';
export { parseSkillCommand } from './skills/resolve-skills.ts';
export { openSkills, type Skills } from './skills/skills.ts';
export {
  type ManagedFile,
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
  encodingDoubt,
  markedCopy,
  openForReading,
  readInside,
  type Survey,
  type SurveyedEntry,
  surveyFolder,
  writeIntoWorkspace,
} from './survey.ts';
export { type Cut, cutText, estimateTokens, isBlank, quarterTokens } from './text.ts';
export { type Hold, localLock, type WorkspaceLock } from './workspace-lock.ts';
export type { AbsentFile, WorkspaceFile, WorkspaceView } from './workspace-view.ts';
