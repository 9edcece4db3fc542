import { ACCESS_CHECKS } from './access-checks.ts';
import type { Check } from './check.ts';
import { FILE_CHECKS, WORKSPACE_CHECKS } from './file-checks.ts';
import { TOOL_CHECKS } from './tool-checks.ts';

/** The part of the table that `parley audit` runs. The gateway runs it, too, without loading the rest. */
export const AUDIT_CHECKS: readonly Check[] = [
  ...FILE_CHECKS,
  ...WORKSPACE_CHECKS,
  ...ACCESS_CHECKS,
  ...TOOL_CHECKS,
];
