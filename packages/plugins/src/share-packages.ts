import { registerHooks } from 'node:module';

/** What plugins may import although their own folder has no node_modules. */
const SHARED: ReadonlySet<string> = new Set([
  '@parley/plugins',
  '@parley/agent',
  '@parley/channels',
  '@parley/contracts',
  '@parley/prompt',
  '@parley/workspace',
  'zod',
]);

/**
 * From now on, code anywhere on this machine finds Parley's packages and zod, as if it lay beside
 * them. A copy of its own wins. Stays in force: plugins import parts of themselves when they are used.
 */
export function sharePackages(): void {
  registerHooks({
    resolve(specifier, context, next) {
      if (!SHARED.has(specifier)) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch {
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}
