import type { ShownProblem } from '@parley/gateway/api';
import { type Path, pathText } from './draft.ts';
import type { Schema } from './fields.ts';
import type { Filter } from './filter.ts';

/** The form that a setting belongs to. */
export interface SettingContext {
  /** All settings as they were edited up to now. */
  readonly draft: unknown;
  readonly problems: readonly ShownProblem[];
  readonly filter: Filter;
  /** The words of the search, to mark them where they are. */
  readonly marked: readonly string[];
  /** Edits one value; undefined removes it. */
  readonly set: (path: Path, value: unknown) => void;
}

/** One setting in the form. */
export interface SettingProps {
  readonly name: string;
  readonly path: Path;
  readonly schema: Schema;
  readonly form: SettingContext;
  /** Its name and description are shown already. */
  readonly isSection?: boolean;
  /** For an entry of a list or record: emptied, it stays until it is removed. */
  readonly isEntry?: boolean;
}

/** The id of the element with a setting. */
export const fieldId = (path: Path): string => `setting-${path.join('.')}`;

/** Whether a problem is at a path or below it. */
export function isWithin(at: string, path: Path): boolean {
  const name = pathText(path);
  return at === name || at.startsWith(`${name}.`) || at.startsWith(`${name}[`);
}
