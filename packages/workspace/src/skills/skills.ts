import type { Audience, PromptPart, Reader } from '@parley/contracts';
import type { FilePattern } from '../prompt-files.ts';
import type { SkillSnapshot } from './skill-snapshot.ts';

/** Where a skill comes from, the weakest first: of two with one name the later source wins (S02). */
export type SkillSource = 'extra' | 'bundled' | 'managed' | 'personal' | 'project' | 'workspace';

/**
 * What became of a skill. `ready`: in the catalogue of those who may see it. `left-out`: the limits of
 * the catalogue have no room for it. `shadowed`: another one of its name wins. `refused`: it is broken,
 * too large or hostile. The others are choices of the operator and facts of the machine.
 */
export type SkillState =
  | 'ready'
  | 'left-out'
  | 'not-eligible'
  | 'not-allowed'
  | 'blocked'
  | 'shadowed'
  | 'refused';

/** One folder that is, or should be, a skill; for people (S09). */
export interface SkillStatus {
  /** As its front matter says, or the name of its folder where that cannot be known. */
  readonly name: string;
  readonly source: SkillSource;
  readonly state: SkillState;
  /** Why it is in this state; null where it is ready. */
  readonly reason: string | null;
  /** Of SKILL.md, with the home folder written `~`. */
  readonly location: string;
  /** Empty where it is refused. */
  readonly description: string;
  readonly emoji: string | null;
  /** How its author says that what it needs is installed; shown, never done (S08). */
  readonly install: readonly string[];
  readonly audience: Audience;
  /** The model may use it by itself. */
  readonly forModel: boolean;
  /** Its command without the slash; null where it has none. */
  readonly command: string | null;
  /** Why a skill that people may call has no command; null where there is nothing to say. */
  readonly commandProblem: string | null;
  /** An estimate of what its entry in the catalogue costs; 0 where it has none. */
  readonly tokens: number;
}

/** The text of a skill, without its front matter, as it is on disk now. */
export interface SkillText extends PromptPart {
  readonly kind: 'skill';
  readonly name: string;
}

/** No text, and why; a skill that the reader may not see looks as if it did not exist. */
export interface AbsentSkill {
  readonly kind: 'absent';
  readonly reason: 'unknown' | 'unreadable';
  /** For the model and for people. */
  readonly detail: string;
}

/** A skill that people call by a command (S08). */
export interface SkillCommand {
  /** Without the slash: `a`–`z`, `0`–`9` and `_`, at most 32. */
  readonly command: string;
  /** The skill it belongs to. */
  readonly name: string;
  /** One line. */
  readonly summary: string;
}

/** The skills of an installation. Looks at the disk when asked, reads only what has changed. Never throws. */
export interface Skills {
  /** The workspace files in which skills of all sources lie. */
  readonly reads: readonly FilePattern[];
  /** Every skill found, also those that are not used, by name. */
  list(): Promise<readonly SkillStatus[]>;
  /** The skills a new session of this reader begins with (S07). */
  snapshot(reader: Reader): Promise<SkillSnapshot>;
  /**
   * For `load_skill`: today's text of a skill that the model may use. `file`: another file of its
   * folder, such as `references/api.md`, where the text asks for it (S06).
   */
  read(name: string, reader: Reader, file?: string): Promise<SkillText | AbsentSkill>;
  /** The commands this reader may use, by name. */
  userInvocable(reader: Reader): Promise<readonly SkillCommand[]>;
  /** Today's text of the skill that a typed command belongs to; also of those hidden from the model. */
  called(command: string, reader: Reader): Promise<SkillText | AbsentSkill>;
}
