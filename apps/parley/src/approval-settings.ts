import { randomBytes } from 'node:crypto';
import type { TurnRunnerDeps } from '@parley/agent';
import { APPROVAL_CODE_LENGTH, oneTimeCode } from '@parley/channels';
import type { LoadedSettings } from './read-settings.ts';

/** Who is asked before tools are run, and how long (G05); settings count in minutes, everything else in ms. */
export function approvalsOf({
  approvals: { waitMinutes, ...rules },
}: LoadedSettings['settings']): NonNullable<TurnRunnerDeps['approvals']> {
  return {
    rules: { ...rules, waitMs: waitMinutes * 60_000 },
    newCode: () => oneTimeCode(randomBytes(APPROVAL_CODE_LENGTH), APPROVAL_CODE_LENGTH),
  };
}
