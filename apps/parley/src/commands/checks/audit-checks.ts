import { ACCESS_CHECKS } from './access-checks.ts';
import type { Check } from './check.ts';
import { FILE_CHECKS, WORKSPACE_CHECKS } from './file-checks.ts';
import { TOOL_CHECKS } from './tool-checks.ts';

/**
 * The checks that `parley audit` runs, in a separate module so that the gateway can run them
 * without loading the other checks.
 */
export const AUDIT_CHECKS: readonly Check[] = [
  ...FILE_CHECKS,
  ...WORKSPACE_CHECKS,
  ...ACCESS_CHECKS,
  ...TOOL_CHECKS,
];
