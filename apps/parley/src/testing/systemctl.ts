/** A fake systemctl that reads the unit, runs its command as a process and stops it. */
export const SYSTEMCTL = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
echo "$*" >>calls
[ "$1" = --user ] && shift
# A process that has ended may wait for the init of a container to notice.
alive() { [ -f pid ] && kill -0 "$(cat pid)" 2>/dev/null && ! grep -qs '^State:.*Z' "/proc/$(cat pid)/status"; }
end() { alive && kill "$(cat pid)"; while alive; do sleep 0.02; done; }
case "$1" in
  --version) echo 'systemd 252 (252.38-1)' ;;
  show-environment | enable | reset-failed) ;;
  daemon-reload) cp "$(cat unit)" loaded 2>/dev/null || rm -f loaded ;;
  restart)
    end
    cd "$(sed -n 's/^WorkingDirectory=//p' loaded)" || exit 1
    sh -c "exec $(sed -n 's/^ExecStart=//p' "$OLDPWD/loaded")" </dev/null >>"$OLDPWD/log" 2>&1 &
    echo $! >"$OLDPWD/pid" ;;
  disable) end ;;
  show)
    if alive; then printf 'MainPID=%s\\nActiveState=active\\nSubState=running\\nMemoryCurrent=150000000\\n' "$(cat pid)"
    else printf 'MainPID=0\\nActiveState=failed\\nSubState=failed\\n'; fi ;;
  *) exit 1 ;;
esac
`;
