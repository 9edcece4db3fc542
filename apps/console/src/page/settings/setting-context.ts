import type { SettingsProblemSummary } from '@parley/gateway/api';
import { CLEARED, formatPath, type SettingPath } from './draft.ts';
import type { SettingSchema } from './fields.ts';
import type { SettingFilter } from './filter.ts';

/** The form to which a setting belongs. */
export interface SettingContext {
  /** All settings with the edits made so far. */
  readonly draft: unknown;
  readonly problems: readonly SettingsProblemSummary[];
  readonly filter: SettingFilter;
  /** The search words to highlight. */
  readonly marked: readonly string[];
  /** Edits a single value; undefined removes it. */
  readonly set: (path: SettingPath, value: unknown) => void;
}

/** One setting in the form. */
export interface SettingProps {
  readonly name: string;
  readonly path: SettingPath;
  readonly schema: SettingSchema;
  readonly form: SettingContext;
  /** Whether the setting's name and description are already shown above it. */
  readonly isSection?: boolean;
  /**
   * Whether the setting is an entry in a list or record. A cleared entry stays visible until it is
   * saved.
   */
  readonly isEntry?: boolean;
}

/** The value that an emptied field receives. */
export function getEmptyValue({
  isEntry,
}: Pick<SettingProps, 'isEntry'>): typeof CLEARED | undefined {
  return isEntry ? CLEARED : undefined;
}

/** The id of the element that shows a setting. */
export const fieldId = (path: SettingPath): string => `setting-${path.join('.')}`;

export function isProblemWithin(at: string, path: SettingPath): boolean {
  const name = formatPath(path);
  return at === name || at.startsWith(`${name}.`) || at.startsWith(`${name}[`);
}
