// What `/api/workspace` answers; the page imports these types by `api.ts`. All texts were written by people and models.

/** A Markdown file of the workspace. */
export interface ShownFile {
  readonly name: string;
  /** Who may see its text in a turn; `conversation`: one chat alone. */
  readonly readers: 'owner' | 'everyone' | 'conversation';
  /** That chat, where it is known. */
  readonly chat?: string;
  /** Why it is the owner's alone, or not read at all. */
  readonly problem: string | null;
  /** Without its front matter, estimated; 0: it is an empty form. */
  readonly tokens: number;
  /** In ms. */
  readonly changedAt: number;
  /** A layer, source or hook of this agent reads it for prompts. */
  readonly isPromptFile: boolean;
}

/** `/api/workspace/files`: by name. `removed`: names of files of which versions are left. */
export interface FileList {
  readonly folder: string;
  readonly files: readonly ShownFile[];
  readonly removed: readonly string[];
}

/** `/api/workspace/files/NAME`. Null `text` and `print`: there is no such file. */
export interface OpenFile {
  readonly name: string;
  readonly text: string | null;
  /** Changes with the text; a change of the file names it. */
  readonly print: string | null;
  /** SOUL.md: it changes by proposals alone (W06). */
  readonly isGoverned: boolean;
  /** The newest first. */
  readonly versions: readonly ShownVersion[];
}

export interface ShownVersion {
  readonly version: string;
  /** In ms. */
  readonly at: number;
  /** Who made it, and why; empty: it was found like that. */
  readonly why: readonly string[];
}

/** A version, and what has changed from it to the file as it is now. */
export interface ShownFileVersion {
  readonly text: string;
  readonly diff: string;
}

/** What became of a change; `outdated`: the file had changed, and nothing was written. */
export interface FileSaved {
  readonly kind: 'written' | 'outdated';
}

/** `/api/workspace/skills`: a skill, whether it is used, and why not. */
export interface ShownSkill {
  readonly name: string;
  readonly emoji: string | null;
  readonly description: string;
  readonly source: string;
  readonly location: string;
  readonly state: string;
  readonly reason: string | null;
  readonly command: string | null;
  readonly commandProblem: string | null;
  /** What of its front matter had to be guessed. */
  readonly warnings: readonly string[];
  readonly install: readonly string[];
  readonly readers: 'owner' | 'everyone';
  /** The model may use it by itself. */
  readonly forModel: boolean;
  /** Of its entry in the list of each prompt. */
  readonly tokens: number;
  /** Where it can be edited: its file in the workspace. */
  readonly file: string | null;
  /** The settings let it be used; null: it is not theirs to decide. */
  readonly isOn: boolean | null;
}
