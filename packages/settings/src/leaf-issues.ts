import type { z } from 'zod';
import type { SettingsPath } from './path.ts';

type Issue = z.core.$ZodIssue;

/** One thing wrong at one place: a zod issue with its full path and no alternatives left inside. */
export interface LeafIssue {
  readonly path: SettingsPath;
  readonly issue: Issue;
  /** What is expected, over all alternatives that failed at this very place. */
  readonly expected: string;
}

/**
 * Flattens issues. Where a value may be of several kinds, only the kind it resembles most is
 * explained: nobody wants to read why their object is not the word `auto`.
 */
export function leafIssues(issues: readonly Issue[], at: SettingsPath): LeafIssue[] {
  return issues.flatMap((issue) => {
    const path = [
      ...at,
      ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step)),
    ];
    if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
      return [{ path, issue, expected: issue.message }];
    }
    const near = issue.errors.filter((branch) => !branch.some(isAtRoot));
    const best = near.toSorted((a, b) => weight(a) - weight(b))[0];
    if (best !== undefined) return leafIssues(best, path);
    const expected = new Set(
      issue.errors.flatMap((branch) => leafIssues(branch, path)).map((leaf) => leaf.expected),
    );
    return [{ path, issue, expected: [...expected].join(', or ') }];
  });
}

function isAtRoot(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code !== 'unrecognized_keys';
}

/** A wrong `kind: …` makes a branch less likely than a wrong detail does, a spare key hardly at all. */
function weight(branch: readonly Issue[]): number {
  const weights = { invalid_value: 10, unrecognized_keys: 1 } as Readonly<Record<string, number>>;
  return branch.reduce((sum, issue) => sum + (weights[issue.code] ?? 3), 0);
}
