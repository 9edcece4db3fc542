import { type Capabilities, ChannelError } from '@parley/core';
import type { ChannelAdapter, ChannelContext, ChannelDefinition } from './adapter.ts';

/** A platform's library that may be missing from an installation. */
export interface OptionalLibrary {
  /** The package's name on npm. */
  readonly name: string;
  /** The version to install; the one in Parley's package.json when absent. */
  readonly version?: string;
  /** Optional parts of the library that may be missing as well. */
  readonly parts?: readonly string[];
  /** A note shown to people before they install the library; empty if there is none. */
  readonly note?: string;
  /** The platform's name, shown to the person who configures the channel. */
  readonly platform: string;
  /**
   * Capabilities of the channel that are known without the library: until it is installed, answers
   * are rendered for them.
   */
  readonly capabilities: Pick<Capabilities, 'target' | 'idempotentSend'>;
}

/**
 * Wraps a channel so that a missing library does not crash the process: each account reports which
 * library to install and how, a probe reports the same, and other channels keep working.
 */
export function withOptionalLibrary<Definition extends ChannelDefinition>(
  definition: Definition,
  library: OptionalLibrary,
): Definition {
  const { probe } = definition;
  return {
    ...definition,
    ...(probe !== undefined && {
      async probe(...args: Parameters<typeof probe>) {
        try {
          return await probe(...args);
        } catch (thrown) {
          if (!isLibraryMissing(thrown, library)) throw thrown;
          return { kind: 'problem', ...(await createLibraryAdvice(library)), retryable: false };
        }
      },
    }),
    async load() {
      try {
        return await definition.load();
      } catch (thrown) {
        if (!isLibraryMissing(thrown, library)) throw thrown;
        const advice = await createLibraryAdvice(library);
        return (context: ChannelContext<unknown>) =>
          createAccountWithoutLibrary(library, advice, context);
      }
    },
  };
}

/** Whether Node reports that the library, or one of its parts, is not installed. */
function isLibraryMissing(thrown: unknown, { name, parts = [] }: OptionalLibrary): boolean {
  if (!(thrown instanceof Error) || !('code' in thrown)) return false;
  if (thrown.code !== 'ERR_MODULE_NOT_FOUND' && thrown.code !== 'MODULE_NOT_FOUND') return false;
  const [, missing = ''] = /'((?:@[^/']+\/)?[^/']+)/.exec(thrown.message) ?? [];
  return [name, ...parts].includes(missing);
}

interface LibraryAdvice {
  readonly reason: string;
  readonly fix: string;
}

async function createLibraryAdvice({
  name,
  version,
  platform,
  note,
}: OptionalLibrary): Promise<LibraryAdvice> {
  const { formatInstallCommand } = await import('@parley/core/install-line');
  const line = formatInstallCommand([version === undefined ? name : `${name}@${version}`]);
  return {
    reason: `${platform} needs the library ${name}, which is not installed`,
    fix: `Run "${line}"${note === undefined ? '' : ` (${note})`}, and start Parley again.`,
  };
}

/**
 * An account whose library is not installed: it reports the required package, and keeps its answers
 * until the package is installed.
 */
function createAccountWithoutLibrary(
  library: OptionalLibrary,
  advice: LibraryAdvice,
  { report }: Pick<ChannelContext<unknown>, 'report'>,
): ChannelAdapter {
  return {
    capabilities: {
      ...library.capabilities,
      typing: false,
      edit: false,
      delete: false,
      react: false,
      threads: false,
      buttons: false,
      streaming: 'none',
      media: [],
    },
    async start() {
      report({ kind: 'failed', ...advice });
    },
    async stop() {
      report({ kind: 'stopped' });
    },
    async send() {
      const message = `The library for ${library.platform} is not installed; this will be sent once it is.`;
      throw new ChannelError({ kind: 'transient' }, message);
    },
  };
}
