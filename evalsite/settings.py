"""Settings, all from the environment (see .env.example and docs/settings.md).

With nothing set, everything runs locally: SQLite, the embedded Valkey server and files below SOUNDCHECK_DATA_DIR.
`manage.py up` writes the addresses of what it started into up.json; what the environment does not give is read from
there, so every command works beside `up`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError

from evalsite import datadir
from runs_app.realtime.endpoints import EndpointError, api_base_url, bare_origin
from scenarios_app.spec.configuration_rules import SIMULATOR

BASE_DIR = Path(__file__).resolve().parent.parent

env = Env()
env.read_env(str(BASE_DIR / ".env"), recurse=False)

try:
    DEBUG = env.bool("DEBUG", False)
    PRODUCTION = env.str("SOUNDCHECK_PRODUCTION", "").lower() in ("1", "true", "yes", "on")
    DATA_DIR = Path(env.str("SOUNDCHECK_DATA_DIR", "") or BASE_DIR / "var").resolve()
    DATABASE_URL = env.str("DATABASE_URL", "")
    REDIS_URL = env.str("REDIS_URL", "")
    SECRET_KEY = env.str("SECRET_KEY", "")
    ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", [])
    SITE_ORIGINS: list[str] = env.list("SITE_ORIGINS", [])
    SITE_URL = env.str("SITE_URL", "").rstrip("/")
    SOUNDCHECK_SECRETS = env.str("SOUNDCHECK_SECRETS", "")
    SIMULATOR_URL = env.str("SIMULATOR_URL", "").rstrip("/")
    LOG_FORMAT = env.str("LOG_FORMAT", "text")
    LOG_LEVEL = env.str("LOG_LEVEL", "INFO").upper()
    BEHIND_TLS_PROXY = env.bool("BEHIND_TLS_PROXY", False)
    IMPORT_LIMIT_MB = env.int("IMPORT_LIMIT_MB", 20)
    LEASE_SECONDS = env.int("LEASE_SECONDS", 15)
    SESSION_DAYS = env.int("SESSION_DAYS", 14)
    TOOL_ENDPOINTS: list[str] = env.list("TOOL_ENDPOINTS", [])
    tool_classes: list[str] = env.list("TOOL_CLASSES", [])
    ASSISTANT_TOKEN = env.str("ASSISTANT_TOKEN", "").strip()
    ASSISTANT_API_KEY = env.str("ASSISTANT_API_KEY", "").strip()
    TRANSCRIPTION_ENDPOINT = env.str("TRANSCRIPTION_ENDPOINT", "").strip() or SIMULATOR
    TRANSCRIPTION_MODEL = env.str("TRANSCRIPTION_MODEL", "").strip() or "whisper-1"
    TRANSCRIPTION_SECRET = env.str("TRANSCRIPTION_SECRET", "").strip()
    REDACT_FIELDS: list[str] = env.list("REDACT_FIELDS", [])
except EnvError as error:
    raise ImproperlyConfigured(str(error)) from error

if LOG_FORMAT not in ("text", "json"):
    raise ImproperlyConfigured(f"LOG_FORMAT must be text or json, not {LOG_FORMAT!r}")
if LOG_LEVEL not in ("DEBUG", "INFO", "WARNING", "ERROR"):
    raise ImproperlyConfigured(f"LOG_LEVEL must be DEBUG, INFO, WARNING or ERROR, not {LOG_LEVEL!r}")
if LEASE_SECONDS < 3:
    raise ImproperlyConfigured("LEASE_SECONDS must be 3 or more: a lease is renewed five times a second")

if TRANSCRIPTION_ENDPOINT != SIMULATOR:
    try:
        api_base_url(TRANSCRIPTION_ENDPOINT)
    except EndpointError as error:
        raise ImproperlyConfigured(f"TRANSCRIPTION_ENDPOINT: {error}") from error
for text in TOOL_ENDPOINTS:
    try:
        bare_origin(text)
    except EndpointError as error:
        raise ImproperlyConfigured(f"TOOL_ENDPOINTS: {error}") from error
TOOL_CLASSES: dict[str, str] = {}
for text in tool_classes:
    name, _, dotted_path = (part.strip() for part in text.partition("="))
    if not name or "." not in dotted_path:
        raise ImproperlyConfigured(f"TOOL_CLASSES: write NAME=dotted.path.Class, not {text!r}")
    TOOL_CLASSES[name] = dotted_path

if PRODUCTION:
    if DEBUG:
        raise ImproperlyConfigured("DEBUG must be off when SOUNDCHECK_PRODUCTION is on")
    if len(SECRET_KEY) < 32:
        raise ImproperlyConfigured("SECRET_KEY must be set to 32 characters or more when SOUNDCHECK_PRODUCTION is on")
    if not ALLOWED_HOSTS or not SITE_ORIGINS:
        raise ImproperlyConfigured("ALLOWED_HOSTS and SITE_ORIGINS must be set when SOUNDCHECK_PRODUCTION is on")
elif not SECRET_KEY:
    SECRET_KEY = datadir.generated_key(DATA_DIR, "secret_key")

GIVEN = {"site": SITE_URL, "redis": REDIS_URL, "simulator": SIMULATOR_URL}  # by the environment; `up` starts the rest
UP = datadir.read_up(DATA_DIR)
REDIS_URL = REDIS_URL or UP.get("redis", "")
SITE_URL = SITE_URL or UP.get("site", "")
SIMULATOR_URL = SIMULATOR_URL or UP.get("simulator", "")
if not PRODUCTION:
    ALLOWED_HOSTS = ALLOWED_HOSTS or ["127.0.0.1", "localhost", "[::1]", "testserver"]
if SITE_URL and not SITE_ORIGINS:
    port = SITE_URL.rpartition(":")[2]
    SITE_ORIGINS = [SITE_URL, f"http://localhost:{port}"] if "127.0.0.1" in SITE_URL else [SITE_URL]
CSRF_TRUSTED_ORIGINS = SITE_ORIGINS

INSTALLED_APPS = [
    "daphne",
    "evalsite",
    "scenarios_app",
    "runs_app",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "channels",
]

MIDDLEWARE = [
    "evalsite.middleware.request_id",
    "django.middleware.security.SecurityMiddleware",
    "evalsite.middleware.content_security_policy",
    "evalsite.middleware.address_without_nul",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "evalsite.middleware.SignInRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "evalsite.urls"
ASGI_APPLICATION = "evalsite.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "evalsite.context.site",
            ],
        },
    },
]

DATABASES = {"default": dj_database_url.parse(DATABASE_URL or f"sqlite:///{DATA_DIR / 'soundcheck.sqlite3'}")}
DATABASES["default"]["ATOMIC_REQUESTS"] = False
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 30,
        # A deferred transaction that reads and then writes fails at once when another writes: take the lock first.
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # Workers started by a test are processes of their own: they cannot see a database in memory.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CELERY_BROKER_URL = REDIS_URL or "redis://127.0.0.1:1/0"
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 7200}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "conversations"
CELERY_TASK_ROUTES = {
    "runs_app.tasks.grade_trial": {"queue": "grading"},
    "runs_app.tasks.make_intervals": {"queue": "grading"},
}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

CHANNEL_LAYERS = (
    {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            # The layer waits 5 s for a message, which is when redis-py would give up by itself and break the socket.
            "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": 30}], "capacity": 2000, "expiry": 30},
        }
    }
    if REDIS_URL
    else {}
)

STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": str(DATA_DIR / "storage"),
            "directory_permissions_mode": 0o700,
            "file_permissions_mode": 0o600,
        },
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = not PRODUCTION
FIXTURES_DIR = BASE_DIR / "fixtures"

LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Two copies on one host share the host's cookies: their names must differ.
_folder = hashlib.sha256(str(DATA_DIR).encode()).hexdigest()[:8]
SESSION_COOKIE_NAME = f"soundcheck_{_folder}"
CSRF_COOKIE_NAME = f"soundcheck_csrf_{_folder}"
SESSION_COOKIE_AGE = SESSION_DAYS * 24 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS_PROXY
if BEHIND_TLS_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "evalsite.errors.csrf_failure"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

DATA_UPLOAD_MAX_MEMORY_SIZE = IMPORT_LIMIT_MB * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000  # each argument of an expected call has six
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"ids": {"()": "evalsite.logs.IdsFilter"}},
    "formatters": {
        "text": {"()": "evalsite.logs.TextFormatter"},
        "json": {"()": "evalsite.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["ids"]}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "django.server": {"handlers": ["console"], "propagate": False},
        "daphne": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
        "websockets": {"level": "WARNING"},
    },
}
