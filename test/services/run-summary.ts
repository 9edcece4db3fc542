import { PROGRAMS, type ServiceName } from './programs.ts';
import type { MissingService } from './provided.ts';

/**
 * A test file in which some tests did not run; `services` are the missing services that it needs.
 */
export type SkippedFile = {
  readonly file: string;
  readonly tests: number;
  readonly services: readonly ServiceName[];
};

/** The outcome of a finished run. */
export type RunFacts = {
  readonly passed: number;
  /** Failed tests, and files or hooks that failed before their tests could run. */
  readonly failed: number;
  readonly skipped: readonly SkippedFile[];
  readonly missing: readonly MissingService[];
  /** Whether tests were chosen by name, so that all other tests were left out on purpose. */
  readonly chosenByName: boolean;
  readonly ci: boolean;
  readonly installer: Installer;
};

/** How this machine installs a program: a column of the list and the start of the command. */
export interface Installer {
  readonly packages: keyof (typeof PROGRAMS)[ServiceName]['packages'];
  readonly command: string;
}

/** The last lines of a run, and whether missing services fail it. */
export type RunSummary = {
  readonly warning: readonly string[];
  readonly counts: string;
  readonly fails: boolean;
};

/**
 * Decides what to print at the end of a run. Locally a missing service is a prominent warning; when
 * `CI` is set it fails the run, and so does a test skipped for no reason.
 */
export function summarizeRun(facts: RunFacts): RunSummary {
  const counts = formatCounts(facts);
  if (facts.chosenByName) return { warning: [], counts, fails: false };
  const explained = facts.skipped.filter((file) => file.services.length > 0);
  // A failing hook skips the tests that follow it; in that case only the failure is reported.
  const unexplained =
    facts.failed > 0 ? [] : facts.skipped.filter((file) => file.services.length === 0);
  const lacking = facts.missing.length > 0 && (facts.ci || explained.length > 0);
  const warning = [
    ...(lacking ? formatMissing(facts, explained) : []),
    ...(unexplained.length > 0 ? formatUnexplained(unexplained) : []),
  ];
  return { warning, counts, fails: facts.ci && warning.length > 0 };
}

function formatCounts(facts: RunFacts): string {
  const skipped = countSkippedTests(facts.skipped);
  const ending = skipped > 0 ? `, ${skipped} skipped` : '';
  return `tests: ${facts.passed} passed, ${facts.failed} failed${ending}`;
}

function formatMissing(facts: RunFacts, files: readonly SkippedFile[]): string[] {
  const titles = facts.missing.map(({ service }) => PROGRAMS[service].title);
  return [
    `${formatTestCount(countSkippedTests(files))} DID NOT RUN: this machine lacks ${titles.join(', ')}.`,
    ...files.map(formatFile),
    ...facts.missing.map((missing) => formatReason(missing, facts.installer)),
    ...formatInstallLines(facts.missing, facts.installer),
  ];
}

function formatReason({ service, reason, canInstall }: MissingService, from: Installer): string {
  const isOffered = PROGRAMS[service].packages[from.packages] !== null;
  const ending = canInstall && !isOffered ? '; this system has no package of it' : '';
  return `  ${PROGRAMS[service].title}: ${reason}${ending}`;
}

function formatUnexplained(files: readonly SkippedFile[]): string[] {
  return [
    `${formatTestCount(countSkippedTests(files))} SKIPPED although nothing that they name is missing (see test/README.md):`,
    ...files.map(formatFile),
  ];
}

function formatFile({ file, tests: count, services }: SkippedFile): string {
  if (services.length === 0) return `  ${file}: ${formatTestCount(count)}`;
  const names = services.map((name) => PROGRAMS[name].title).join(', ');
  return `  ${file}: ${formatTestCount(count)} for ${names}`;
}

/** One command for everything that can be installed here. */
function formatInstallLines(missing: readonly MissingService[], from: Installer): string[] {
  const packages = missing
    .filter(({ canInstall }) => canInstall)
    .flatMap(({ service }) => PROGRAMS[service].packages[from.packages] ?? []);
  if (packages.length === 0) return [];
  return [`Install what they need: ${from.command} ${[...new Set(packages)].join(' ')}`];
}

function countSkippedTests(files: readonly SkippedFile[]): number {
  return files.reduce((sum, file) => sum + file.tests, 0);
}

function formatTestCount(count: number): string {
  return count === 1 ? '1 test' : `${count} tests`;
}
