import { AUDIT_CHECKS } from './audit-checks.ts';
import type { Check } from './check.ts';
import { AUDIT_CHECK, MACHINE_CHECKS } from './machine-checks.ts';
import { MCP_CHECK } from './mcp-checks.ts';
import { CLOCK_CHECK, OWN_CHECKS } from './own-checks.ts';
import { SERVICE_CHECKS } from './service-checks.ts';
import { SKILL_CHECK } from './skill-checks.ts';

/** All checks, in the order of the report. */
export const CHECKS: readonly Check[] = [
  ...OWN_CHECKS,
  ...SERVICE_CHECKS,
  SKILL_CHECK,
  MCP_CHECK,
  ...MACHINE_CHECKS,
  ...AUDIT_CHECKS,
  AUDIT_CHECK,
  CLOCK_CHECK,
];
