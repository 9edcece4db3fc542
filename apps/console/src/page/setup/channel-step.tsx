import type { SetupBot, SetupPlatform, SetupState } from '@parley/gateway/api';
import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { PairingView, pairingOf } from '../pairing.tsx';
import { ActionButton } from '../ui/widgets.tsx';
import { AnswerNote, answerAbout, Chooser, Field, Step, type StepPlace, useStep } from './step.tsx';

type ChannelMethod = 'setup/try-channel' | 'setup/save-channel';

export type ShownAccounts = OutputOf<'channels/report'>['accounts'];

interface ChannelProps {
  readonly state: SetupState;
  readonly accounts: ShownAccounts;
  readonly place: StepPlace;
  readonly onSaved: () => void;
}

/** The chosen platform and what was typed, as the gateway is asked about it. */
function useChannelInput(platforms: readonly SetupPlatform[], accounts: ShownAccounts) {
  const [id, setId] = useState('');
  const [token, setToken] = useState('');
  const [phone, setPhone] = useState('');
  const chosen = platforms.find((one) => one.id === id) ?? firstUnlinked(platforms, accounts);
  const choose = (next: string): void => {
    setId(next);
    setToken('');
  };
  /** Keeps the platform, which might otherwise change to one that waits for its phone. */
  const typing = (set: (text: string) => void) => (text: string) => {
    setId(chosen?.id ?? '');
    set(text);
  };
  const input = {
    channel: chosen?.id ?? 'telegram',
    ...(token !== '' && { token }),
    ...(phone !== '' && chosen?.asks === 'phone' && { phone }),
  };
  return { chosen, choose, input, typeToken: typing(setToken), typePhone: typing(setPhone) };
}

/**
 * Connects a channel: its token is tested and the bot's name and picture are shown before it is
 * saved.
 */
export function ChannelStep({ state, accounts, place, onSaved }: ChannelProps): VNode {
  const { channels, platforms } = state;
  const { chosen, choose, input, typeToken, typePhone } = useChannelInput(platforms, accounts);
  const [bot, setBot] = useState<SetupBot | null>(null);
  const hasToken = chosen?.asks === 'token';
  const { answered, isBusy, isSaving, take } = useStep<ChannelMethod>(() => {
    typeToken('');
    // The step stays open to show the code for a phone.
    if (hasToken) onSaved();
  });
  const answer = answerAbout(answered, input);
  const tried = (answer?.kind === 'works' && answer.bot) || null;
  useEffect(() => {
    if (tried !== null) setBot(tried);
  }, [tried]);
  const takeAs = (method: ChannelMethod): void => {
    if (chosen !== undefined) void take({ method, input });
  };
  const isSaved = chosen !== undefined && channels.includes(chosen.id);
  return (
    <Step
      place={place}
      title="Connect a channel"
      done={connectedAs(accounts, bot)}
      isSaving={isSaving}
    >
      <Chooser
        label="Channel"
        options={platforms.map((one) => [one.id, one.name])}
        value={chosen?.id ?? ''}
        isBusy={isBusy}
        onChoose={choose}
      />
      <p class="facts">{chosen?.needs}</p>
      {hasToken && <Field label="Token" value={input.token ?? ''} isSecret onInput={typeToken} />}
      {!hasToken && !isSaved && (
        <Field
          label="Phone number"
          hint="Leave it empty to scan a QR code instead."
          value={input.phone ?? ''}
          onInput={typePhone}
        />
      )}
      <AnswerNote answer={answer} />
      {tried !== null && <BotCard {...tried} />}
      {accounts.map(
        ({ channel, account, state: { kind }, reason, fix }) =>
          kind === 'failed' &&
          (answer === undefined || answer.kind === 'done') &&
          channel === chosen?.id && (
            <p key={account} class="trouble">
              {reason} {fix}
            </p>
          ),
      )}
      <div class="actions">
        {hasToken && (
          <ActionButton
            label="Try the token"
            isBusy={isBusy || input.token === undefined}
            onPress={() => takeAs('setup/try-channel')}
          />
        )}
        {(hasToken || !isSaved) && (
          <ActionButton
            label="Connect"
            look="is-main"
            isBusy={isBusy || (hasToken && input.token === undefined)}
            onPress={() => takeAs('setup/save-channel')}
          />
        )}
      </div>
      {isSaved && !hasToken && <LinkPhone accounts={accounts} channel={chosen.id} />}
    </Step>
  );
}

/** The configured platform that is waiting for its phone, otherwise the first one. */
function firstUnlinked(
  platforms: readonly SetupPlatform[],
  accounts: ShownAccounts,
): SetupPlatform | undefined {
  const [waits] = pairingOf(accounts).unlinked;
  return platforms.find(({ id }) => waits?.id.startsWith(`${id}/`)) ?? platforms[0];
}

/** `Connected as @bot` for each connected account; null if there is none. */
function connectedAs(accounts: ShownAccounts, bot: SetupBot | null): VNode | null {
  const names = accounts.flatMap(({ channel, state }) => {
    if (state.kind !== 'connected' && state.kind !== 'standby') return [];
    return [state.kind === 'connected' ? state.as : channel];
  });
  if (names.length === 0) return null;
  return (
    <>
      Connected as {names.join(', ')}
      {bot?.invitation != null && names.includes(bot.name) && (
        <>
          {' · '}
          <Invitation address={bot.invitation} />
        </>
      )}
    </>
  );
}

function Invitation({ address }: { readonly address: string }): VNode {
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      Invite it to a server
    </a>
  );
}

/** The bot whose token was tested. Its owner chose the name and picture. */
function BotCard({ name, picture, invitation }: SetupBot): VNode {
  const address = usePictureOf(picture);
  return (
    <div class="row">
      {address === '' ? (
        <span class="face" aria-hidden="true">
          {name.replace(/^@/, '').slice(0, 1).toUpperCase()}
        </span>
      ) : (
        <img class="face setup-picture" src={address} alt="" width={40} height={40} />
      )}
      <b>{name}</b>
      {invitation !== null && <Invitation address={invitation} />}
    </div>
  );
}

/** An object URL for a picture; the browser detects the picture's type from its bytes. */
function usePictureOf(base64: string | null): string {
  const [address, setAddress] = useState('');
  useEffect(() => {
    if (base64 === null) return setAddress('');
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const made = URL.createObjectURL(new Blob([bytes]));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [base64]);
  return address;
}

interface LinkProps {
  readonly accounts: ShownAccounts;
  readonly channel: string;
}

/** The code of an account waiting for its phone, and later the number it is linked to. */
function LinkPhone({ accounts, channel }: LinkProps): VNode {
  const own = accounts.filter((one) => one.channel === channel);
  const { unlinked } = pairingOf(own);
  return (
    <>
      {unlinked.map((account) => (
        <PairingView key={account.id} account={account} />
      ))}
      {own.map(
        ({ account, state }) =>
          state.kind === 'connected' && (
            <p key={account} class="outcome" role="status">
              Linked: {state.as}.
            </p>
          ),
      )}
    </>
  );
}
