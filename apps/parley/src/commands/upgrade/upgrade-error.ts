import { CliError } from '../../data-folder.ts';

type UpgradeErrorCode =
  | 'upgrade-no-address'
  | 'upgrade-no-checksum'
  | 'upgrade-checksum'
  | 'upgrade-download'
  | 'upgrade-not-a-release'
  | 'upgrade-libraries'
  | 'upgrade-postgres'
  | 'upgrade-rehearsal'
  | 'upgrade-state';

/**
 * Creates the error of an upgrade that could not be tried. The installation is unchanged unless the
 * message says otherwise.
 */
export function createUpgradeError(
  code: UpgradeErrorCode,
  message: string,
  cause?: unknown,
): CliError {
  return new CliError(code, message, cause);
}
